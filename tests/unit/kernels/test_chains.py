"""Stored lines become frames that are chains, whatever branches their journals have, and blocks become documents."""

import itertools
import json
import random

import pyarrow as pa
import pytest

from strandline.dialects.ipfslog.codec import dag_cbor, dag_pb_block, parse_cid, read_documents
from strandline.dialects.ipfslog.kernels import packed
from strandline.dialects.ipfslog.types import BlockDocument, record_id
from strandline.dialects.sdmp.author import synthetic
from strandline.dialects.sdmp.codec import line_hash, profile_of
from strandline.dialects.sdmp.kernels import CHAIN_SCHEMA, chains
from support.random_journals import tree

LINES = pa.schema(
    [("namespace", pa.string()), ("n", pa.int64()), ("line_number", pa.string()), ("text", pa.string())]
)
BLOCKS = pa.schema([("block", pa.binary())])


def rows_of(lines):
    """The lines of one journal as stored, sorted as the kernel reads them."""
    node = lines[0].decode()
    profile = profile_of(node)
    n = {}
    found = []
    for raw in lines:
        number = None if raw == lines[0] else raw.partition(b"@")[0].decode()
        hashed = line_hash(raw, profile)
        n[hashed] = 1 if number is None else n[number] + 1
        found.append((f"node:{node}", n[hashed], number, raw.decode()))
    return sorted(found, key=lambda row: (row[0], row[1]))


def batches(rows, size):
    return [
        pa.RecordBatch.from_pylist(
            [dict(zip(LINES.names, row, strict=True)) for row in rows[at : at + size]], LINES
        )
        for at in range(0, len(rows), size)
    ]


def chained(rows, size=7):
    return [row for batch in chains(batches(rows, size)) for row in batch.to_pylist()]


def test_each_line_is_in_one_chain_and_each_line_of_a_chain_follows_the_one_before():
    rng = random.Random(3)
    journals = {lines[0].decode(): lines for number in range(60) if len(lines := tree(rng, number)) > 1}
    found = chained([row for node in sorted(journals) for row in rows_of(journals[node])])
    assert CHAIN_SCHEMA.names == list(found[0])
    seen = {node: [] for node in journals}
    for chain in found:
        node = chain["namespace"].removeprefix("node:")
        lines = [line.encode() for line in chain["entries"]]
        first = lines[0]
        assert chain["number"] == (None if first == node.encode() else first.partition(b"@")[0].decode())
        for before, line in itertools.pairwise(lines):
            assert line.partition(b"@")[0].decode() == line_hash(before, profile_of(node))
        seen[node] += lines
    assert {node: sorted(lines) for node, lines in seen.items()} == {
        node: sorted(lines) for node, lines in journals.items()
    }
    # A journal without a fork is one chain.
    assert len(found) < sum(len(lines) for lines in journals.values()) / 2


def test_a_long_journal_is_cut_where_it_is_as_much_as_a_frame_should_hold(monkeypatch):
    monkeypatch.setattr("strandline.dialects.sdmp.kernels.chaining.MAX_CHAIN_BYTES", 194 * 3)
    rows = rows_of(list(synthetic(0, 12)))
    found = chained(rows)
    assert [chain["n"] for chain in found] == [1, 5, 8, 11]
    assert sum(len(chain["entries"]) for chain in found) == 12


def test_lines_that_come_again_or_at_forged_places_are_in_chains_as_often_as_they_came():
    rows = rows_of(list(synthetic(0, 6)))
    twice = sorted([*rows, *rows[2:4]], key=lambda row: row[1])
    forged = [(namespace, 9 - n, number, text) for namespace, n, number, text in reversed(rows)]
    for given in (twice, forged, [*twice, *forged]):
        found = chained(given)
        lines = sorted(line for chain in found for line in chain["entries"])
        assert lines == sorted(text for *_, text in given)
        for chain in found:
            for before, line in itertools.pairwise(chain["entries"]):
                assert line.partition("@")[0] == line_hash(before.encode(), "0.9")


@pytest.mark.parametrize("most", [1, 30, 10**6])
def test_every_block_is_a_document_of_one_file_under_its_own_address(monkeypatch, most):
    monkeypatch.setattr("strandline.kernels.packing._PIECE_BYTES", most)
    blocks = [dag_cbor([number] * (number % 5)) for number in range(40)]
    made = [
        pa.RecordBatch.from_pylist([{"block": each} for each in blocks[at : at + 9]], BLOCKS)
        for at in range(0, 40, 9)
    ]
    files = [row["content"] for batch in packed(made) for row in batch.to_pylist()]
    read = [each for content in files for each in read_documents(content, "lines")]
    assert all(isinstance(each, BlockDocument) for each in read)
    assert [each.block for each in read] == blocks
    assert [parse_cid(each.claimed).digest for each in read] == [record_id(each) for each in blocks]
    assert (len(files) == 1) == (most == 10**6)


def test_a_block_that_no_log_can_hold_is_a_document_that_is_refused():
    nobodys = dag_pb_block(b"a file of somebody")
    entry = dag_pb_block(json.dumps({"v": 0, "payload": "x"}).encode())
    made = pa.RecordBatch.from_pylist([{"block": nobodys}, {"block": entry}], BLOCKS)
    [file] = [row["content"] for batch in packed([made]) for row in batch.to_pylist()]
    refused, kept = read_documents(file, "lines")
    assert (refused.reasons, kept.block) == (("NOT_AN_ENTRY",), entry)
