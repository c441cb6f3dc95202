"""One limit of values for every document: counted before anything is built, and named by the reason."""

import struct

import pytest

from strandline.core import limits
from strandline.core.encoding import cbor_heads, strict_cbor, strict_json
from strandline.core.encoding.strict_cbor import CborRefused
from strandline.core.encoding.strict_json import JsonRefused
from strandline.core.limits import MAX_VALUES, VALUE_BYTES
from support.effort import peak_bytes

MIB = 1 << 20


def json_cause(raw: bytes, most_values: int = MAX_VALUES) -> str | None:
    try:
        strict_json.strict_json(raw, most_values=most_values)
    except JsonRefused as refused:
        return refused.cause
    return None


def cbor_cause(raw: bytes, nesting: int = 64) -> str | None:
    try:
        strict_cbor.strict_cbor(raw, tags=frozenset({42}), floats=("wide", "short"), nesting=nesting)
    except CborRefused as refused:
        return refused.cause
    return None


def cbor_list(item: bytes, count: int) -> bytes:
    return b"\x9a" + struct.pack(">I", count) + item * count


HOSTILE_JSON = {
    "an array of commas": (b"[", b",", b"]"),
    "empty arrays": (b"[", b"[],", b"0]"),
    "empty objects": (b"[", b"{},", b"0]"),
    "zeros": (b"[", b"0,", b"0]"),
    "empty texts": (b"[", b'"",', b"0]"),
    "members": (b"{", b'"":0,', b'"":0}'),
    "an array without an end": (b"[", b"0,", b""),
    "brackets 60 deep": (b"[", b"[" * 60 + b"]" * 60 + b",", b"0]"),
}


@pytest.mark.large
@pytest.mark.parametrize("name", HOSTILE_JSON)
def test_json_of_more_values_than_a_document_may_hold_is_refused_unread(name: str, monkeypatch) -> None:
    head, unit, tail = HOSTILE_JSON[name]
    monkeypatch.setattr(strict_json, "_decoded", None)  # nothing is decoded
    raw = head + unit * (100_000 // len(unit)) + tail
    assert json_cause(raw, 5_000) == "values"
    assert peak_bytes(lambda: json_cause(raw, 5_000)) < 8 * 1024


HOSTILE_CBOR = {
    "empty lists": cbor_list(b"\x80", 2**15),
    "empty maps": cbor_list(b"\xa0", 2**15),
    "small integers": cbor_list(b"\x01", 2**15),
    "empty texts": cbor_list(b"\x60", 2**15),
    "empty byte strings": cbor_list(b"\x40", 2**15),
    "maps of one member": cbor_list(b"\xa1\x60\x00", 2**13),
    "links": cbor_list(b"\xd8\x2a\x41\x00", 2**13),
    "lists without a length": b"\x9f" + b"\x9f\xff" * 2**14 + b"\xff",
    "a text of small pieces": b"\x7f" + b"\x60" * 2**14 + b"\xff",
    "small pieces in front of others": b"\x82\x5f" + b"\x40" * 100 + b"\xff" + cbor_list(b"\x80", 2**14),
}


@pytest.mark.large
@pytest.mark.parametrize("name", HOSTILE_CBOR)
def test_cbor_of_more_items_than_a_document_may_hold_is_refused_unread(name: str, monkeypatch) -> None:
    monkeypatch.setattr(strict_cbor, "_decoded", None)  # nothing is decoded
    monkeypatch.setattr(strict_cbor, "MAX_VALUES", 5_000)
    assert cbor_cause(HOSTILE_CBOR[name]) == "values"
    assert peak_bytes(lambda: cbor_cause(HOSTILE_CBOR[name])) < 8 * 1024


@pytest.mark.large
def test_the_most_values_are_read_and_one_more_is_not() -> None:
    zeros = b"[" + b"0," * (MAX_VALUES - 1) + b"0]"
    assert (json_cause(zeros), json_cause(zeros[:-1] + b",0]")) == (None, "values")
    items = cbor_list(b"\x19\x01\x00", MAX_VALUES - 1)
    assert (cbor_cause(items), cbor_cause(cbor_list(b"\x19\x01\x00", MAX_VALUES))) == (None, "values")


@pytest.mark.large
def test_the_evidence_names_the_limit() -> None:
    with pytest.raises(JsonRefused) as json_refused:
        strict_json.strict_json(b"[" + b"," * MAX_VALUES + b"]")
    with pytest.raises(CborRefused) as cbor_refused:
        strict_cbor.begins_cbor(cbor_list(b"\x80", MAX_VALUES), 64)
    told = {"cause": "values", "expected": MAX_VALUES}
    assert (json_refused.value.evidence, cbor_refused.value.evidence) == (told, told)


def test_marks_in_texts_and_what_follows_an_item_are_not_counted() -> None:
    assert json_cause(b'["' + b",[{" * MAX_VALUES + b'"]') is None
    assert json_cause(b'["\\"' + b",[{" * MAX_VALUES) == "syntax"
    assert cbor_cause(b"\x5a" + struct.pack(">I", 2**20) + b"\x80" * 2**20) is None
    assert cbor_cause(b"\x01" + b"\x80" * 2**20) == "trailing"
    assert strict_cbor.begins_cbor(b"\x41a" + b"\x80" * 2**20, 64) == b"a"


WORST_JSON = {
    "members with long numbers": (b"{", lambda n: b'"%06x":1.0,' % n, b'"":0}', 1),
    "objects of one member": (b"[", lambda n: b'{"%x":1e%d},' % (n, n), b"0]", 2),
    "objects in objects": (b"[", lambda n: b'{"":{"":{"":{"":{"":0}}}}},', b"0]", 6),
    "texts": (b"[", lambda n: b'"%x",' % n, b"0]", 1),
}


@pytest.mark.large
@pytest.mark.parametrize("name", WORST_JSON)
def test_the_working_memory_of_a_document_is_bounded(name: str) -> None:
    head, unit, tail, values = WORST_JSON[name]
    raw = head + b"".join(map(unit, range(MAX_VALUES // values - 1))) + tail
    assert json_cause(raw) is None
    assert peak_bytes(lambda: json_cause(raw)) < MAX_VALUES * VALUE_BYTES + 9 * len(raw)


def test_a_larger_document_may_have_more_elements_and_none_of_a_size_that_honest_ones_have_too_many() -> None:
    assert limits.most_elements(0) == limits.most_elements(16 * MIB) == 65_536
    assert limits.most_elements(256 * MIB) == 16 * 65_536


@pytest.mark.parametrize("most", [1, 2, 7, 100])
def test_heads_are_counted_as_a_decoder_meets_them(most: int) -> None:
    for count in (most - 1, most):
        for inner in (b"\x00", b"\x18\xff", b"\x41a", b"\xfb" + bytes(8)):
            listed = cbor_list(inner, count) + bytes(most)
            assert cbor_heads.has_more_items(listed, most) == (count + 1 > most)
        tagged = b"\xc6" * count + b"\x00" + bytes(most)
        assert cbor_heads.has_more_items(tagged, most) == (count + 1 > most)
