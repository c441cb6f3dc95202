"""Kernels of own journals: lines beside the trunk, what a file of requests asks, where announcements stood."""

import io
import json

import pyarrow as pa
import pytest

from strandline.core.verdict import shown
from strandline.dialects.sdmp.author import append, synthetic, synthetic_id
from strandline.dialects.sdmp.codec import announce, line_hash, parse_requests, read_requests
from strandline.dialects.sdmp.kernels import ANNOUNCED, ELEMENT_FIELDS, off_trunk, read_content, requests
from strandline.kernels.containers import StreamLimits
from strandline.kernels.lines import RawLimits
from strandline.kernels.opened import Content
from strandline.kernels.pieces import Pieces
from strandline.kernels.reading import ReadOptions, Source

OPTIONS = ReadOptions(
    lake_options={"strict": "weak"}, stream=StreamLimits(2**30, 100), keep=RawLimits(2**22, 2**16)
)
OWN, OTHER = synthetic_id("node", 1), synthetic_id("node", 2)
PAIRS = [(synthetic_id("author", k), synthetic_id("resource", k)) for k in range(3)]


def disputed_rows(lines, tip, name):
    """All lines of a journal as rows with their n, in any order."""
    n = {line_hash(lines[0]): 1}
    rows = [(name, line_hash(tip), line_hash(lines[0]), None, 1)]
    for line in lines[1:]:
        number = line.partition(b"@")[0].decode()
        n[line_hash(line)] = n[number] + 1
        rows.append((name, line_hash(tip), line_hash(line), number, n[number] + 1))
    return rows


@pytest.mark.parametrize("size", [1, 3, 100])
@pytest.mark.parametrize("below", [0, 2])
def test_what_the_way_down_from_the_tip_does_not_meet_is_beside_the_trunk(size, below):
    trunk, other = list(synthetic(0, 7)), list(synthetic(1, 5))
    beside = [*append(trunk[3], PAIRS[:2]), *append(trunk[5], PAIRS[2:])]
    others = list(append(other[0], PAIRS))
    journals = [([*trunk, *beside], trunk[-1], "node:a"), ([*other, *others], other[-1], "node:b")]
    rows = [row for journal in journals for row in disputed_rows(*journal) if row[4] > below]
    rows.sort(key=lambda row: (row[0], -row[4], row[2]))
    names = ("namespace", "tip_hash", "line_hash", "line_number")
    schema = pa.schema(dict.fromkeys(names, pa.string()))
    batches = [
        pa.RecordBatch.from_pylist(
            [dict(zip(names, row[:4], strict=True)) for row in rows[at : at + size]], schema
        )
        for at in range(0, len(rows), size)
    ]
    found = [
        (row["namespace"], row["line_hash"]) for batch in off_trunk(batches) for row in batch.to_pylist()
    ]
    expected = [("node:a", line) for line in beside]
    # Of the other journal, lines below the first that are read do not count.
    expected += [("node:b", line) for line in others if below < 2 or line != others[0]]
    assert sorted(found) == sorted((name, line_hash(line)) for name, line in expected)


def test_of_a_long_forked_journal_one_batch_is_in_memory():
    made = []

    def rows():
        for at in range(3):
            made.append(at)
            yield pa.RecordBatch.from_pydict(
                {
                    "namespace": ["node:a"],
                    "tip_hash": ["t"],
                    "line_hash": [f"beside {at}"],
                    "line_number": ["x"],
                }
            )

    first = next(off_trunk(rows()))
    assert first.to_pylist() == [{"namespace": "node:a", "line_hash": "beside 0"}]
    assert made == [0]


def asked(node: str, **request: object) -> bytes:
    return json.dumps({"node": "a", "to": node, "request": request}).encode()


def test_a_file_of_requests_becomes_rows_and_none_of_it_raises(tmp_path):
    lines = [
        asked(OWN, since=OWN, limit=10**9), b"", asked(OTHER, since="x", limit=1), asked(OWN, since=1, limit=1),
        asked(OWN, author="a", resource="b"), asked(OWN, since="y", limit=2), b"{", asked("\ud800", since="y", limit=1),
        asked("x" * 10**6, since="y", limit=1),
    ]  # fmt: skip
    path = tmp_path / "ask.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + b"\n".join(lines))
    batch = pa.RecordBatch.from_pydict({"path": [str(path)]})
    rows = [row for found in requests([batch], {OWN}) for row in found.to_pylist()]
    assert [(row["request_no"], row["outcome"], row["most"]) for row in rows] == [
        (1, "asked", 50_000), (3, "refused", 0), (4, "malformed", 0), (5, "resources", 0), (6, "asked", 2),
        (7, "malformed", 0), (8, "malformed", 0), (9, "refused", 0),
    ]  # fmt: skip
    assert (rows[0]["to"], rows[0]["since"], rows[1]["to"]) == (OWN, OWN, OTHER)
    assert rows[-1]["to"] == shown("x" * 10**6)


@pytest.mark.large
def test_of_a_request_that_is_too_long_the_rest_is_read_over():
    long = b" " * (16 * 1024 * 1024 + 5) + b"{}"
    first, second = read_requests(io.BytesIO(long + b"\n" + asked(OWN, since="x", limit=1)))
    assert (first[0], first[1].field, second[0]) == (1, "bytes", 2)
    assert parse_requests(asked(OWN, since="x", limit=1)) == (second[1],)


class Counted(io.BytesIO):
    """Bytes that count how many of them were read, together with all others."""

    read_bytes = 0

    def read(self, size: int | None = -1) -> bytes:
        block = super().read(size)
        Counted.read_bytes += len(block)
        return block


def read_in_splits(content: bytes, size: int) -> list[dict]:
    """The pieces of a file, read in splits of `size` bytes; what is read beside the splits is counted."""
    Counted.read_bytes = 0
    pieces = Pieces(ELEMENT_FIELDS)
    source = Source(0, lambda: Counted(content))
    for start in range(0, len(content), size):

        def begin(start: int = start):
            yield content[start:]

        part = Content(begin, part=start, until=min(start + size, len(content)))
        for _ in read_content(source, part, pieces, OPTIONS, local_nodes={OWN}):
            pass
    return [row for batch in pieces.rest() for row in batch.to_pylist()]


def announced_in_splits(content: bytes, size: int) -> list[tuple[int, int, str, str | None]]:
    """Where the announced elements of a file stood, read in splits of `size` bytes: frame_no, pos, resource, seq."""
    rows = read_in_splits(content, size)
    assert {row["damage"] for row in rows} == {ANNOUNCED}
    places = [json.loads(row["evidence"]) for row in rows]
    return sorted((place["frame_no"], place["pos"], place["resource_id"], place["seq"]) for place in places)


@pytest.mark.parametrize("size", [1, 64, 300, 1_000, 10**6])
def test_an_announcement_stands_on_the_same_line_of_its_file_however_the_file_is_split(size):
    frames = [announce(OWN, PAIRS[:2]), b"", announce(OWN, []), announce(OWN, PAIRS[2:], 2**64 - 1), b" "]
    content = b"\xef\xbb\xbf" + b"\n".join(frames * 3)
    expected = [
        (5 * again + frame_no, pos, pair[1], seq)
        for again in range(3)
        for frame_no, pairs, seq in ((0, PAIRS[:2], None), (3, PAIRS[2:], str(2**64 - 1)))
        for pos, pair in enumerate(pairs)
    ]
    assert announced_in_splits(content, size) == expected


def test_only_for_announcements_of_local_nodes_a_split_reads_what_is_before_it():
    def beside(node: str) -> tuple[int, int]:
        content = (announce(node, PAIRS[:1]) + b"\n") * 800
        rows = read_in_splits(content, len(content) // 8)
        assert len(rows) == 800
        return Counted.read_bytes, len(content)

    assert beside(OTHER)[0] == 0
    read, size = beside(OWN)
    assert 3 * size < read < 4 * size
