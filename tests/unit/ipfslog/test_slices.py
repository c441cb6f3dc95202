"""Where elements of arrays begin and end: as a slow reader of marks says, in steps that no nesting multiplies."""

import random
from importlib import import_module

import pytest

from strandline.core.encoding import json_skip as brackets
from strandline.core.encoding import json_slices as slices
from strandline.core.encoding.json_slices import parts_of, stripped
from strandline.core.encoding.strict_json import JsonRefused
from strandline.core.limits import MAX_ELEMENTS, MAX_VALUES
from strandline.dialects.ipfslog.codec import read_documents
from strandline.dialects.ipfslog.types import Unreadable
from support.effort import Counted, peak_bytes
from support.slow_json import marks_outside_texts

# The package has a function of the same name.
MODULE = import_module("strandline.dialects.ipfslog.codec.json_documents")
MANY = 10**9
MARKS = [
    b"[", b"]", b"{", b"}", b",", b'"', b"\\", b" ", b"0", b"a:", b'"x"', b'"[,]"', b"[[[[[[", b"]]]]]]", b"[]", b"\n",
    b'["",["",["",["",',
]  # fmt: skip


def slow_parts(raw: bytes, stop: int) -> tuple[list[tuple[int, int]], int | None]:
    """The pieces of the array at the beginning of `raw`, a byte at a time."""
    pieces, depth, begin, end = [], 1, 1, stop
    for at, mark in marks_outside_texts(raw, 1, stop):
        if mark in (b"[", b"{"):
            depth += 1
        elif mark in (b"]", b"}"):
            depth -= 1
            if depth == 0:
                end = at
                break
        elif mark == b"," and depth == 1:
            pieces.append((begin, at))
            begin = at + 1
    if pieces or raw[begin:end].strip(b" \t\n\r"):
        pieces.append((begin, end))
    return pieces, end + 1 if end < stop and raw[end : end + 1] == b"]" else None


@pytest.mark.parametrize(
    ("usual", "smallest", "largest"), [(8 * 1024, 256, 64 * 1024), (8, 2, 16), (3, 3, 64), (1, 1, 1)]
)
def test_parts_are_those_of_a_reader_that_takes_a_byte_at_a_time(
    usual, smallest, largest, monkeypatch
) -> None:
    monkeypatch.setattr(slices, "_USUAL_BYTES", usual)
    monkeypatch.setattr(brackets, "_SMALLEST_WINDOW", smallest)
    monkeypatch.setattr(brackets, "_LARGEST_WINDOW", largest)
    chance = random.Random(smallest)
    for case in range(2_000):
        weights = [chance.choice((0, 1, 2, 5)) + (case % 2) for _ in MARKS]
        raw = b"[" + b"".join(chance.choices(MARKS, [1 + each for each in weights], k=chance.randrange(30)))
        stop = chance.randrange(1, len(raw) + 1)
        pieces, end = slow_parts(raw, stop)
        found = parts_of(raw, 0, stop, MANY)
        assert (found.pieces, found.end) == (tuple(stripped(raw, *piece) for piece in pieces), end), (
            raw,
            stop,
        )


NESTED = {
    "empty arrays": b"[]," * 2,
    "objects": b'{"":0},',
    "brackets five deep": b"[[[[[0]]]]],",
    "brackets a hundred deep": b"[" * 100 + b"]" * 100 + b",",
    "texts between brackets that open": b'["",' * 100 + b"]" * 100 + b",",
    "texts": b'"",',
    "escaped quotes": b'"\\"[",',
}


@pytest.mark.parametrize("name", NESTED)
def test_an_element_is_skipped_in_a_step_for_many_bytes(name: str, monkeypatch) -> None:
    unit = NESTED[name]
    read = Counted(brackets.steps_outside_texts)
    monkeypatch.setattr(brackets, "steps_outside_texts", read)
    raw = b"[[" + unit * (300_000 // len(unit)) + b"0]]"
    assert parts_of(raw, 0, len(raw), MANY).pieces == (slices.Slice(1, len(raw) - 1),)
    # Windows double, and the last is halved. A step for each bracket would be thousands.
    assert 0 < read.calls < 60


DEEP = {
    "objects": (b'{"a":', b"}"),
    "objects whose names are brackets": (b'{"[":', b"}"),
    "arrays, texts of brackets behind each": (b"[", b',"]"]'),
    "arrays, escaped quotes in each": (b'["\\"[\\\\",', b"]"),
}


@pytest.mark.parametrize("name", DEEP)
def test_deep_nesting_is_left_in_few_steps_and_little_memory(name: str, monkeypatch) -> None:
    opening, closing = DEEP[name]
    depth = 50_000
    raw = b"[" + opening * depth + b"1" + closing * depth + b",2]"
    read = Counted(brackets.steps_outside_texts)
    monkeypatch.setattr(brackets, "steps_outside_texts", read)
    assert parts_of(raw, 0, len(raw), MANY).pieces == (
        slices.Slice(1, len(raw) - 3), slices.Slice(len(raw) - 2, len(raw) - 1),
    )  # fmt: skip
    assert read.calls < 60
    assert peak_bytes(lambda: parts_of(raw, 0, len(raw), MANY)) < 4_000_000


SCANNED = {
    "a snapshot that is valid": (b'{"id":"x","values":[', b'{"a":[1]},', b'0],"heads":[]}', 1.1),
    "a snapshot nested deeply": (b'{"id":"x","values":[', b"[", b"", 1.1),
    "an array after others of its name": (b'{"values":[0],"values":[', b"[],", b'0],"values":[0]}', 1.1),
    "the last array of a name": (b'{"values":[0],"values":[', b"[],", b"0]}", 2.1),
}


@pytest.mark.parametrize("name", SCANNED)
def test_the_elements_of_a_snapshot_are_found_in_one_scan(name: str, monkeypatch) -> None:
    head, unit, tail, most = SCANNED[name]
    raw = head + unit * 2_000 + tail
    scanned, after_element = 0, slices._after_element

    def counted(raw: bytes, at: int, stop: int) -> int:
        nonlocal scanned
        end = after_element(raw, at, stop)
        scanned += end - at
        return end

    monkeypatch.setattr(slices, "_after_element", counted)
    list(read_documents(raw + b"\n", "lines"))
    assert 0.5 * len(raw) < scanned < most * len(raw)


def test_of_too_many_parts_no_more_are_held_than_may_be() -> None:
    raw = b"[" + b"," * 100_000 + b"]"
    with pytest.raises(JsonRefused) as refused:
        parts_of(raw, 0, len(raw), 1_000)
    assert refused.value.evidence == {"cause": "values", "expected": 1_000}

    def read() -> None:
        with pytest.raises(JsonRefused):
            parts_of(raw, 0, len(raw), 1_000)

    assert peak_bytes(read) < 500_000
    assert len(parts_of(b"[" + b"," * 999 + b"]", 0, 1_001, 1_000).pieces) == 1_000


FLOODS = {
    "a snapshot of commas": (b'{"id":"x","values":[', b",", b"]}"),
    "a snapshot of zeros": (b'{"id":"x","values":[', b"0,", b"0]}"),
    "heads of nothing": (b'{"id":"x","values":[],"heads":[', b",", b"]}"),
    "a snapshot that does not end": (b'{"values":[', b",", b""),
    "an array of commas": (b"[", b",", b"]"),
    "members": (b'{"values":[]', b',"%d":0', b"}"),
}


@pytest.mark.parametrize("format_", ["lines", "json"])
@pytest.mark.parametrize("name", FLOODS)
def test_an_array_of_rubbish_is_one_record_however_long_it_is(name: str, format_, monkeypatch) -> None:
    monkeypatch.setattr(MODULE, "most_elements", lambda size: 1_000)
    head, unit, tail = FLOODS[name]
    raw = head + b"".join(unit % number if b"%" in unit else unit for number in range(1_001)) + tail
    documents = list(read_documents(raw, format_))
    assert [document.reasons for document in documents if isinstance(document, Unreadable)] in (
        [("JSON_INVALID",)], [("JSON_INVALID", "TRUNCATED")],
    )  # fmt: skip
    assert len(documents) == 1
    # In a file of lines an array is no list of documents, and is read as one value.
    cause = "syntax" if (name, format_) == ("an array of commas", "lines") else "values"
    assert documents[0].evidence["JSON_INVALID"]["cause"] == cause


@pytest.mark.large
def test_a_snapshot_of_more_values_than_a_document_may_hold_is_read_element_by_element() -> None:
    bad = b"[" + b"0," * MAX_VALUES + b"0]"
    good = b'{"payload":[%s],"v":2}' % b",".join([b"0"] * 1_000)
    raw = b'{"id":"x","values":[' + b",".join([good] * 200 + [bad] + [good] * 200) + b"]}"
    documents = list(read_documents(raw + b"\n", "lines"))
    assert [type(each).__name__ for each in documents] == ["JsonDocument"] * 200 + ["Unreadable"] + [
        "JsonDocument"
    ] * 200
    assert documents[200].evidence == {"JSON_INVALID": {"cause": "values", "expected": MAX_VALUES}}
    assert documents[200].raw == bad


@pytest.mark.large
def test_an_array_of_as_many_elements_as_may_be_is_read() -> None:
    raw = b"[" + b",".join([b"{}"] * MAX_ELEMENTS) + b"]"
    assert sum(1 for _ in read_documents(raw, "json")) == MAX_ELEMENTS
    assert sum(1 for _ in read_documents(raw[:-1] + b",{}]", "json")) == 1
