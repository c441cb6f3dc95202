"""Stored lines become frames that are chains, whatever branches their journals have, and blocks become CARs."""

import itertools
import json
import random

import pyarrow as pa
import pytest

from strandline.dialects.ipfslog.codec import canonical_cid, read_documents
from strandline.dialects.ipfslog.kernels import packed
from strandline.dialects.ipfslog.kernels import packing as car_packing
from strandline.dialects.ipfslog.types import BlockDocument, record_id
from strandline.dialects.sdmp.author import synthetic
from strandline.dialects.sdmp.codec import line_hash, profile_of
from strandline.dialects.sdmp.kernels import CHAIN_SCHEMA, chains
from support.random_journals import tree

LINES = pa.schema(
    [("namespace", pa.string()), ("n", pa.int64()), ("line_number", pa.string()), ("line_hash", pa.string()),
     ("text", pa.string())]
)  # fmt: skip


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
        found.append((f"node:{node}", n[hashed], number, hashed, raw.decode()))
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
        lines = [line.encode() for line in json.loads(f"[{chain['entries']}]")]
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
    assert sum(len(json.loads(f"[{chain['entries']}]")) for chain in found) == 12


@pytest.mark.parametrize("most", [1, 30, 10**6])
def test_every_block_is_in_one_car_under_its_address(monkeypatch, most):
    monkeypatch.setattr(car_packing, "MAX_CAR_BYTES", most)
    blocks = [b"%d" % number * (number % 5) for number in range(40)]
    addressed = [
        {"cid": canonical_cid(record_id(block), "v0" if len(block) % 2 else "core2"), "block": block}
        for block in blocks
    ]
    schema = pa.schema([("cid", pa.string()), ("block", pa.binary())])
    made = [pa.RecordBatch.from_pylist(addressed[at : at + 9], schema) for at in range(0, 40, 9)]
    cars = [row["content"] for batch in packed(made) for row in batch.to_pylist()]
    read = [each for content in cars for each in read_documents(content, "car")]
    assert all(isinstance(each, BlockDocument) for each in read)
    assert [each.block for each in read] == blocks
    assert (len(cars) == 1) == (most == 10**6)
