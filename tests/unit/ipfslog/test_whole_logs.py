"""The kernel of whole logs gives the rows and hashes of the reference, whatever the order and the cut of its input."""

import random

import pyarrow as pa
import pytest

from strandline.dialects.ipfslog.kernels import LOG_NODE, whole_logs
from strandline.dialects.ipfslog.reduce import LogConfiguration, ops_of, reduce_log, state
from support.pruning import prunable, skeleton
from support.random_logs import random_log

LOGS = 120
BLOCK = 4
"""Positions of a hash of the order: a log of some entries has several."""
_OPS = pa.list_(
    pa.struct(
        [("op", pa.string()), ("op_key", pa.string()), ("value_json", pa.string()), ("item", pa.int32()),
         ("target", pa.string())]
    )
)  # fmt: skip
_NODES = pa.list_(
    pa.struct(
        [("record_id", pa.binary()), ("clock_time", pa.int64()), ("clock_id", pa.string()),
         ("next", pa.list_(pa.binary())), ("cid", pa.string()), ("variant", pa.string()), ("writer", pa.string()),
         ("ops", _OPS)]
    )
)  # fmt: skip
READ = pa.schema(
    [("namespace", pa.string()), ("bucket", pa.int32()), ("store", pa.string()), ("nodes", _NODES)]
)


def of_entry(entry):
    ops = [(op.op, op.op_key, op.value_json, op.item, op.target) for op in ops_of(entry)]
    parts = (getattr(entry, name) for name in LOG_NODE[:-1])
    return dict(
        zip(
            LOG_NODE, (*parts, [dict(zip(_OPS.value_type.names, op, strict=True)) for op in ops]), strict=True
        )
    )


def of_skeleton(node):
    return {name: getattr(node, name, None) for name in LOG_NODE}


@pytest.fixture(scope="module")
def cases():
    """Each log with its configuration, its entries and the skeletons of some that were pruned."""
    found = []
    for seed in range(LOGS):
        made, draw = random_log(seed, 1), random.Random(seed)
        told = made.told or LogConfiguration(draw.choice(["documents", "keyvalue", "counter", "none"]))
        entries = {each.record_id: each for each in made.batches[0]}
        gone = (
            [each for each in prunable(entries.values(), told) if draw.random() < 0.5]
            if seed % 3 == 0
            else []
        )
        found.append((made.log_id, told, list(entries.values()), [skeleton(each) for each in gone]))
    return found


def shown(rows, *names):
    return [tuple(row[name] for name in names) for row in rows]


@pytest.mark.large
@pytest.mark.parametrize("size", [1, 7, LOGS])
def test_rows_and_hashes_are_those_of_the_reference(cases, monkeypatch, size):
    monkeypatch.setattr(state, "ORDER_BLOCK", BLOCK)
    draw, rows, expected = random.Random(size), [], {}
    for number, (log_id, told, entries, skeletons) in enumerate(cases):
        expected[log_id] = (
            told,
            {each.record_id: each for each in entries},
            reduce_log(entries, told, skeletons),
        )
        pruned = {each.record_id for each in skeletons}
        nodes = [of_entry(each) for each in entries if told.may_write(each) and each.record_id not in pruned]
        nodes += [of_skeleton(each) for each in skeletons]
        draw.shuffle(nodes)
        rows.append({"namespace": log_id, "bucket": number, "store": told.store, "nodes": nodes or None})
    batches = [pa.RecordBatch.from_pylist(rows[at : at + size], READ) for at in range(0, LOGS, size)]
    found = [row for batch in whole_logs(batches, order_block=BLOCK) for row in batch.to_pylist()]
    assert [(row["namespace"], row["bucket"]) for row in found] == [
        (each[0], at) for at, each in enumerate(cases)
    ]
    for row in found:
        told, held, of_log = expected[row["namespace"]]
        hashes = (of_log.state_hash, of_log.order_blocks, of_log.document_groups)
        assert (row["state_hash"], row["order_blocks"], row["document_groups"]) == hashes
        gone = {each for each in of_log.values if each not in {one["record_id"] for one in _kept(rows, row)}}
        assert shown(row["heads"], "record_id", "rank", "cid", "clock_id", "clock_time", "writer") == [
            (each.record_id, each.rank, *_of(held[each.record_id], "cid", "clock_id", "clock_time"),
             None if each.record_id in gone else held[each.record_id].writer)
            for each in of_log.heads
        ]  # fmt: skip
        assert shown(row["tails"], "record_id", "cid", "kind", "missing") == [
            (each.record_id, held[each.record_id].cid, each.kind, list(each.missing)) for each in of_log.tails
        ]
        names = ("record_id", "position", "tied", "clock_ok")
        assert shown(row["view"], *names) == [_of(each, *names) for each in of_log.view]
        assert shown(row["view"], "clock_time", "clock_id") == [
            _of(held[each], "clock_time", "clock_id") for each in of_log.values
        ]
        assert {each["mode"] for each in row["view"]} <= {of_log.mode}
        names = ("document_key", "record_id", "item", "deleted", "value_json")
        assert shown(row["documents"], *names) == [_of(each, *names) for each in of_log.documents or ()]
        assert {each["store"] for each in row["documents"]} <= {told.store}
    assert sum(row["order_blocks"] is not None for row in found) > LOGS // 4


def _of(value, *names):
    return tuple(getattr(value, name) for name in names)


def _kept(rows, row):
    """The nodes of a log that are entries, not skeletons."""
    [log] = [each for each in rows if each["namespace"] == row["namespace"]]
    return [each for each in log["nodes"] or () if each["variant"] is not None]


def test_a_log_of_which_nothing_counts_has_a_state():
    batch = pa.RecordBatch.from_pylist(
        [{"namespace": "log:a", "bucket": 1, "store": "none", "nodes": None}], READ
    )
    [row] = [row for found in whole_logs([batch], order_block=BLOCK) for row in found.to_pylist()]
    assert row["state_hash"] == reduce_log([], LogConfiguration()).state_hash
    assert [row[name] for name in ("heads", "tails", "view", "documents")] == [[], [], [], []]


def test_no_logs_are_no_batch():
    assert list(whole_logs([pa.RecordBatch.from_pylist([], READ)], order_block=BLOCK)) == []
