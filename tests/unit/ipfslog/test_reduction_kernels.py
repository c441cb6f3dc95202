"""Kernels of the reduction give what the plain functions give, however the rows are cut into batches."""

import hashlib
import random

import pyarrow as pa
import pytest

from strandline.dialects.ipfslog import kernels
from strandline.dialects.ipfslog.codec import dag_cbor
from strandline.dialects.ipfslog.reduce import (
    Carry,
    Dag,
    LogConfiguration,
    Node,
    configuration_of,
    encode_carry,
    list_digest,
    reduce_log,
    state_hash,
)
from support.ipfslog_cases import dag, document
from support.log_lakes import manifest
from support.random_logs import random_log


def nodes_of(seed):
    """Nodes of one log with any clocks, some named parents missing."""
    draw = random.Random(seed)
    variant = draw.choice(["v2", "core2"])
    made = []
    for number in range(draw.randint(1, 30)):
        parents = {draw.randint(0, number) for _ in range(draw.randint(0, 3))}
        named = tuple(bytes([parent if parent < number else 99 + number]) * 32 for parent in parents)
        made.append(
            Node(bytes([number]) * 32, draw.randint(0, 8), draw.choice("ab"), named, f"{number:03}", variant)
        )
    return made


def walkable(logs):
    """The columns that the walk reads, of all logs."""
    rows = []
    for name, nodes in logs.items():
        found = Dag(nodes)
        for record_id in found.by_key:
            held = [found.rank[parent] for parent in found.nodes[record_id].next if parent in found.nodes]
            rows.append((name, found.rank[record_id], found.is_core, sorted(set(held))))
    schema = pa.schema(
        [
            ("namespace", pa.string()),
            ("rank", pa.int32()),
            ("is_core", pa.bool_()),
            ("parents", pa.list_(pa.int32())),
        ]
    )
    return pa.Table.from_pylist([dict(zip(schema.names, row, strict=True)) for row in rows], schema=schema)


@pytest.mark.large
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_a_walk_over_integers_is_that_of_the_reference(size):
    logs = {f"log:{seed:03}": nodes_of(seed) for seed in range(60)}
    batches = walkable(logs).to_batches(max_chunksize=size)
    walked = [row for batch in kernels.walk_positions(batches) for row in batch.to_pylist()]
    found = {(row["namespace"], row["rank"]): row["position"] for row in walked}
    expected = {}
    for name, nodes in logs.items():
        reference = Dag(nodes)
        order = reference.walk(reference.heads)[::-1]
        expected |= {(name, reference.rank[id_]): place for place, id_ in enumerate(order, start=1)}
    assert found == expected


def part(place, text):
    return {"place": place, "digest": hashlib.sha256(text).digest()}


def hashed(**members):
    row = {
        "namespace": "log:a", "entries": 3, "mode": "sort", "heads": [b"b" * 32, b"a" * 32], "missing": None,
        "kept_blocks": None, "blocks": [part(0, b"x")], "has_documents": False, "kept_groups": None, "groups": None,
    } | members  # fmt: skip
    parts = pa.list_(pa.struct([("place", pa.int32()), ("digest", pa.binary())]))
    types = {
        "namespace": pa.string(), "entries": pa.int64(), "mode": pa.string(), "heads": pa.list_(pa.binary()),
        "missing": pa.list_(pa.binary()), "kept_blocks": pa.binary(), "blocks": parts, "has_documents": pa.bool_(),
        "kept_groups": pa.binary(), "groups": parts,
    }  # fmt: skip
    batch = pa.RecordBatch.from_pylist([row], schema=pa.schema(list(types.items())))
    [[found]] = [made.to_pylist() for made in kernels.state_hashes([batch])]
    return found


def test_hashes_that_stay_and_hashes_made_anew_give_the_state_of_all_of_them():
    whole = hashed(blocks=[part(2, b"z"), part(0, b"x"), part(1, b"y")])
    joined = b"".join(part(0, text)["digest"] for text in (b"x", b"y", b"z"))
    assert whole["order_blocks"] == joined
    assert hashed(kept_blocks=joined[:64], blocks=[part(2, b"z")]) == whole
    documents = hashed(kept_blocks=joined, blocks=None, has_documents=True, groups=[part(7, b"row")])
    groups = documents["document_groups"]
    assert groups[7 * 32 : 8 * 32] == part(7, b"row")["digest"]
    again = hashed(kept_blocks=joined, blocks=None, has_documents=True, kept_groups=groups, groups=[])
    assert again == documents
    assert documents["state_hash"] != whole["state_hash"]
    short = hashed(has_documents=True)
    assert (short["order_blocks"], short["document_groups"]) == (None, None)


def test_a_state_without_entries_has_a_hash_and_the_published_ones_come_out():
    empty = hashed(entries=0, heads=None, blocks=None)
    assert empty["state_hash"] == state_hash(0, "sort", (), (), (), None)
    state = reduce_log(dag("v2").values())
    values = hashlib.sha256(b"".join(state.values)).digest()
    found = hashed(
        entries=9, heads=[row.record_id for row in state.heads], blocks=[{"place": 0, "digest": values}]
    )
    assert found["state_hash"].hex() == document()["dag"]["hashes"]["v2 none"]


CHAINED = pa.schema(
    [
        ("namespace", pa.string()),
        ("log_id", pa.string()),
        ("manifests", pa.list_(pa.struct([
            ("record_id", pa.binary()), ("kind", pa.string()), ("type", pa.string()), ("access", pa.string()),
            ("list_bytes", pa.int64()), ("list_digest", pa.binary()),
        ]))),
        ("carry", pa.binary()),
    ]
)  # fmt: skip


def chained(log_id, manifests, carry=None):
    """A log with what its reduction reads of its manifests, without their lists."""
    read = [
        {
            "list_bytes": None if each.write is None else kernels.texts_bytes(each.write),
            "list_digest": None if each.write is None else list_digest(each.write),
        } | {name: getattr(each, name) for name in ("record_id", "kind", "type", "access")}
        for each in manifests
    ]  # fmt: skip
    return {"namespace": log_id, "log_id": log_id, "manifests": read, "carry": carry}


def configured(rows, told=()):
    batches = pa.Table.from_pylist(rows, schema=CHAINED).to_batches(max_chunksize=3)
    return [
        row
        for batch in kernels.configurations(batches, operator_config=dict(told))
        for row in batch.to_pylist()
    ]


def described(row, manifests):
    """What the state of a log says of its configuration, and its whole write list."""
    if row["write"] is not None:
        return row["reducer_version"], row["configuration"], tuple(row["write"])
    assert (row["reducer_version"], row["configuration"]) == (None, None)
    [listing] = {each for each in manifests if each.record_id == row["list_id"]}
    assert row["list_bytes"] == kernels.texts_bytes(listing.write)
    one = [{"list_id": listing.record_id, "store": row["store"], "write": list(listing.write)}]
    [batch] = kernels.listed_configurations([pa.RecordBatch.from_pylist(one)])
    [found] = batch.to_pylist()
    assert (found["list_id"], found["store"]) == (row["list_id"], row["store"])
    return found["listed_version"], found["listed_configuration"], listing.write


@pytest.mark.large
def test_configurations_follow_the_manifests_that_are_held_and_the_file_goes_first():
    logs = [each for seed in range(80) if (each := random_log(seed, 1)).manifests]
    told = {logs[0].log_id: LogConfiguration("feed", ("*",), "config")}
    rows = [chained(each.log_id, each.manifests) for each in logs]
    found = configured(rows, told)
    expected = [configuration_of(each.log_id, told, each.manifests) for each in logs]
    assert [(row["store"], row["whence"], tuple(row["depends_on"])) for row in found] == [
        (each.store, each.whence, each.depends_on) for each in expected
    ]
    assert [described(row, log.manifests) for row, log in zip(found, logs, strict=True)] == [
        (each.reducer_version, each.as_json, each.write) for each in expected
    ]
    assert {each.whence for each in expected} == {"config", "manifest", "mutable", "none"}
    assert all((row["list_id"] is None) == (row["whence"] != "manifest") for row in found)
    assert manifest(logs[0].manifests[0].block) == logs[0].manifests[0]
    # Entries were pruned while the log was a counter that alice might write: that holds, and the file may not differ.
    carry = Carry("counter", ("alice",), 1)
    held = configured([row | {"carry": encode_carry(carry)} for row in rows], told)
    assert {(row["store"], *row["write"], row["whence"]) for row in held} == {
        ("counter", "alice", "snapshot")
    }
    assert {(row["list_id"], row["list_bytes"]) for row in held} == {
        (list_digest(["alice"]), kernels.texts_bytes(["alice"]))
    }
    assert [row["is_refused"] for row in held] == [True, *[False] * (len(held) - 1)]
    assert not any(row["is_refused"] or row["is_bereft"] for row in (*found, *held[1:]))
    # A carry that is gone, or that no rule reads, leaves the configuration of the others as it is.
    carries = (b"", encode_carry(carry)[:-1], *[encode_carry(carry)] * (len(rows) - 2))
    mixed = configured([row | {"carry": raw} for row, raw in zip(rows, carries, strict=True)], told)
    assert [row["is_bereft"] for row in mixed] == [True, True, *[False] * (len(rows) - 2)]
    assert mixed == [*(row | {"is_bereft": True} for row in found[:2]), *held[2:]]
    # One with the list of the manifest changes nothing; one with another store, or other writers, does.
    at, known = next((at, each) for at, each in enumerate(expected) if each.whence == "manifest")
    for store, write, whence in [
        (known.store, known.write, "manifest"),
        ("feed" if known.store == "counter" else "counter", known.write, "snapshot"),
        (known.store, (*known.write, "~"), "snapshot"),
    ]:
        held_by = Carry(store, write, 1)
        [row] = configured([rows[at] | {"carry": encode_carry(held_by)}], told)
        assert (row["whence"], described(row, logs[at].manifests)[1]) == (
            whence, held_by.configuration_of(known).as_json,
        )  # fmt: skip


@pytest.mark.large
def test_a_long_list_that_many_logs_name_is_in_no_row_of_a_log():
    listing = manifest(dag_cbor({"type": "ipfs", "write": [f"w{number}" for number in range(20_000)]}))
    database = manifest(dag_cbor({"name": "d", "type": "feed", "accessController": listing.cid}))
    names = [f"/orbitdb/{database.cid}/{number}" for number in range(300)]
    rows = [chained(name, [database, listing]) for name in names]
    batches = list(
        kernels.configurations(pa.Table.from_pylist(rows, schema=CHAINED).to_batches(), operator_config={})
    )
    assert sum(batch.nbytes for batch in batches) < len(names) * 500
    found = [row for batch in batches for row in batch.to_pylist()]
    assert {row["list_id"] for row in found} == {listing.record_id}
    plain = configuration_of(names[0], {}, [database, listing])
    assert described(found[0], [listing]) == (plain.reducer_version, plain.as_json, plain.write)
