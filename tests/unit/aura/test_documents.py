"""Files of facts: what is bad is rejected alone, with its exact bytes and its place."""

import json
from itertools import pairwise

import pytest

from strandline.dialects.aura.codec import MAX_LINE_BYTES, documents, read_documents, to_json
from strandline.dialects.aura.types import MAX_FACT_BYTES, FactDocument, Unreadable
from support.aura_cases import U, authority, facts, first_context
from support.aura_tampering import changed, value_of
from support.effort import seconds_of

NAMES = ("G", "A0", "A1", "P")
LINES = [to_json(facts()[name]).encode() for name in NAMES]
CBOR = [facts()[name].cbor for name in NAMES]
A0 = value_of(facts()["A0"])


def found(data, form="lines"):
    """Names of facts, or codes, in file order; each with its offset."""
    names = {fact.fact_id: name for name, fact in authority()[0].items()}
    return [
        (names[each.fact.fact_id], each.offset)
        if isinstance(each, FactDocument)
        else ("+".join(each.reasons), each.offset)
        for each in read_documents(data, form)
    ]


def codes(data, form="lines"):
    return [name for name, _ in found(data, form)]


def only(data, form="json"):
    (document,) = read_documents(data, form)
    assert isinstance(document, Unreadable)
    return document


def without_namespace(line):
    return json.dumps({k: v for k, v in json.loads(line).items() if k != "namespace"}).encode()


def document(*elements, namespace=None, **more):
    members = {"namespace": U.text if namespace is None else namespace, **more}
    head = json.dumps(members).encode()[:-1]
    return head + b',"facts":[' + b",".join(elements) + b"]}"


def test_lines_are_read_whatever_ends_them():
    first, second = LINES[:2]
    for data in (
        first + b"\n" + second,
        first + b"\r\n" + second + b"\r\n",
        b"\xef\xbb\xbf" + first + b"\n" + second + b"\n",
        b"\n\r\n \t \n" + first + b"\n\n" + b" " + second + b" \n",
    ):
        documents_ = list(read_documents(data, "lines"))
        assert [each.fact.cbor for each in documents_] == CBOR[:2]
        assert [data[each.offset :].startswith(b"{") for each in documents_] == [True, True]
    # No other character ends a line.
    assert codes(first + b"\x0b" + second) == ["JSON_INVALID+TRUNCATED"]
    assert codes(first + "\u2028".encode() + second + b"\n") == ["JSON_INVALID"]


def test_a_bad_line_does_not_affect_the_others():
    data = LINES[0] + b"\n{\n" + LINES[1] + b"\n[]\n{}\n" + LINES[2] + b"\n"
    assert codes(data) == ["G", "JSON_INVALID", "A0", "TYPE_INVALID", "FIELD_MISSING", "A1"]
    rejected = [each for each in read_documents(data, "lines") if isinstance(each, Unreadable)]
    assert [each.raw for each in rejected] == [b"{", b"[]", b"{}"]
    assert all(data[each.offset :].startswith(each.raw) for each in rejected)


def test_a_cut_last_line_is_called_cut_and_nothing_before_it_is_lost():
    data = LINES[0] + b"\n" + LINES[1]
    for end in (*range(len(LINES[0]) + 2, len(data), 5), len(data) - 1):
        assert codes(data[:end]) == ["G", "JSON_INVALID+TRUNCATED"]
    # What is whole has no LF because nothing follows; what is JSON is not cut.
    assert codes(data) == ["G", "A0"]
    assert codes(b"{}") == ["FIELD_MISSING"]
    assert codes(document(b"{", extra=1)) == ["JSON_INVALID+TRUNCATED"]
    assert codes(document(b"[NaN]", extra=1)) == ["FIELD_UNKNOWN"]
    assert codes(LINES[0] + b"\n" + document(LINES[1], b"{")) == ["G", "JSON_INVALID+TRUNCATED"]


@pytest.mark.large
def test_a_line_may_have_four_mebibytes():
    line = LINES[0] + b" " * (MAX_LINE_BYTES - len(LINES[0]))
    assert codes(line + b"\n" + LINES[1]) == ["G", "A0"]
    assert codes(line + b" \n" + LINES[1]) == ["LINE_TOO_LARGE", "A0"]
    assert codes(line + b" ") == ["LINE_TOO_LARGE+TRUNCATED"]


@pytest.mark.parametrize("form", ["lines", "json"])
def test_the_facts_of_a_document_inherit_its_namespace(form):
    whole = document(LINES[0], without_namespace(LINES[1]), LINES[2])
    data = whole if form == "json" else LINES[3] + b"\n" + whole + b"\n" + LINES[3] + b"\n"
    expected = ["G", "A0", "A1"] if form == "json" else ["P", "G", "A0", "A1", "P"]
    assert codes(data, form) == expected
    assert codes(document(LINES[0], namespace={"Authority": U.text[10:].upper()}), "json") == ["G"]
    # Facts before the namespace inherit it, too.
    turned = b'{"facts":[' + without_namespace(LINES[0]) + b'],"namespace":"' + U.text.encode() + b'"}'
    assert codes(turned, "json") == ["G"]
    assert codes(document(), "json") == []


BAD = {
    b"{": "JSON_INVALID",
    b"": "JSON_INVALID",
    b'{"order":1,"order":1}': "JSON_INVALID",
    b"[NaN]": "JSON_INVALID",
    b'"\\ud800"': "JSON_INVALID",
    b"1": "TYPE_INVALID",
    b"1.0": "TYPE_INVALID",
    b'{"extra":"],[{"}': "FIELD_UNKNOWN",
    json.dumps(changed(A0, "namespace", "authority:" + "0" * 8 + "-0000" * 3 + "-" + "0" * 12)).encode(): (
        "NAMESPACE_MISMATCH"
    ),
    to_json(first_context()["Generic"]).encode(): "NAMESPACE_MISMATCH",
    json.dumps(changed(A0, "order", "02")).encode(): "LENGTH_INVALID",
    b"[" * 33 + b"]" * 33: "JSON_INVALID",
    b" " + LINES[0] + b"\n" + LINES[1] + b" ": "JSON_INVALID",
}


@pytest.mark.parametrize("form", ["lines", "json"])
@pytest.mark.parametrize("bad", [each for each in BAD if each != b"{"])
def test_a_bad_fact_of_a_document_is_rejected_alone_with_its_exact_bytes(bad, form):
    if form == "lines":
        bad = bad.replace(b"\n", b"\r")
    data = document(LINES[0], bad, b" " + LINES[1] + b" ")
    good, rejected, after = read_documents(data, form)
    assert (good.fact.cbor, after.fact.cbor) == (CBOR[0], CBOR[1])
    assert rejected.reasons == (BAD.get(bad, "JSON_INVALID"),)
    assert rejected.raw == bad.strip(b" \t\r\n")
    assert data[rejected.offset :].startswith(rejected.raw)
    assert rejected.namespace == U


@pytest.mark.parametrize(
    ("data", "code", "field"),
    [
        (b"[]", "TYPE_INVALID", ""),
        (b"7", "TYPE_INVALID", ""),
        (LINES[0], "FIELD_UNKNOWN", "attest"),
        (document(LINES[0], extra=1), "FIELD_UNKNOWN", "extra"),
        (b'{"facts":[' + LINES[0] + b"]}", "FIELD_MISSING", "namespace"),
        (b'{"namespace":"' + U.text.encode() + b'"}', "FIELD_MISSING", "facts"),
        (document(LINES[0], namespace="authority:x"), "TYPE_INVALID", "namespace"),
        (document(LINES[0], namespace={}), "VARIANT_UNKNOWN", "namespace"),
        (b'{"namespace":"' + U.text.encode() + b'","facts":{}}', "TYPE_INVALID", "facts"),
    ],
)
def test_a_document_with_a_wrong_member_is_one_rejected_record(data, code, field):
    rejected = only(b" \n" + data)
    assert (rejected.reasons, rejected.raw, rejected.offset) == ((code,), data, 2)
    assert rejected.evidence[code]["field"] == field


@pytest.mark.parametrize(
    "data",
    [
        document(LINES[0])[:-1],
        document(LINES[0])[:-2],
        document(LINES[0])[:-2] + b"}}",
        b'{"facts":[' + without_namespace(LINES[0]) + b'},"namespace":"' + U.text.encode() + b'"}',
        document(LINES[0]) + b"}",
        document(LINES[0], b"{"),
        document(LINES[0]).replace(b'"facts":', b'"facts":[],"facts":'),
        document(LINES[0]).replace(b'{"namespace"', b'{"facts":[],"namespace"'),
        document(LINES[0]) + document(LINES[0]),
        document(LINES[0]).replace(b'"namespace":', b'"namespace":,'),
        b"\xff",
    ],
)
def test_a_document_that_does_not_parse_is_one_rejected_record(data):
    rejected = only(data)
    assert (rejected.reasons, rejected.raw, rejected.namespace) == (("JSON_INVALID",), data, None)


def test_no_cut_document_gives_a_fact():
    data = document(LINES[0], LINES[1])
    for end in (*range(1, len(data), 5), len(data) - 2, len(data) - 1):
        assert only(data[:end]).reasons == ("JSON_INVALID",)


def test_a_file_has_a_limit(monkeypatch):
    data = document(LINES[0])
    monkeypatch.setattr(documents, "MAX_FILE_BYTES", len(data))
    assert codes(data, "json") == codes(b"\xef\xbb\xbf" + data, "json") == ["G"]
    assert codes(data + b" ", "json") == ["FILE_TOO_LARGE"]
    assert documents.MAX_LINE_BYTES == 4 * 2**20


def test_a_cbor_sequence_is_read_item_by_item():
    data = b"".join(CBOR)
    assert codes(data, "cbor") == list(NAMES)
    assert [offset for _, offset in found(data, "cbor")] == [
        sum(map(len, CBOR[:count])) for count in range(len(CBOR))
    ]


ITEMS = {
    b"\x00": "TYPE_INVALID",
    b"\xa0": "FIELD_MISSING",
    b"\xc1\x00": "CBOR_INVALID",
    b"\xf7": "CBOR_INVALID",
    b"\xfb" + bytes(8): "CBOR_INVALID",
    b"\x61\xff": "CBOR_INVALID",
    b"\xa2\x61\x61\x01\x61\x61\x02": "CBOR_INVALID",
    b"\x18\x00": "CBOR_NOT_CANONICAL",
    b"\xbf" + CBOR[0][1:] + b"\xff": "CBOR_NOT_CANONICAL",
    b"\x5a" + (MAX_FACT_BYTES + 1).to_bytes(4, "big") + bytes(MAX_FACT_BYTES + 1): "FACT_TOO_LARGE",
}


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item[:8].hex())
def test_a_bad_item_costs_itself(item):
    data = CBOR[0] + item + CBOR[1]
    assert codes(data, "cbor") == ["G", ITEMS[item], "A0"]
    (rejected,) = [each for each in read_documents(data, "cbor") if isinstance(each, Unreadable)]
    assert (rejected.raw, rejected.offset) == (item, len(CBOR[0]))


@pytest.mark.parametrize("bytes_", [b"\xff", b"\x1c", b"\x81" * 33 + b"\x00", b"\x5a\x7f\xff\xff\xff"])
def test_what_is_no_item_costs_the_rest_of_the_file(bytes_):
    data = CBOR[0] + bytes_ + CBOR[1]
    assert codes(data, "cbor") == ["G", "CBOR_INVALID"]
    rejected = list(read_documents(data, "cbor"))[1]
    assert rejected.raw == data[rejected.offset :] == bytes_ + CBOR[1]


def test_a_sequence_cut_at_any_byte_gives_what_was_before():
    data = b"".join(CBOR[:2])
    for end in {*range(0, len(data), 5), len(CBOR[0]) - 1, len(CBOR[0]), len(CBOR[0]) + 1, len(data)}:
        whole = (end >= len(CBOR[0])) + (end == len(data))
        rest = [] if end in (0, len(CBOR[0]), len(data)) else ["CBOR_INVALID"]
        assert codes(data[:end], "cbor") == list(NAMES[:whole]) + rest


def test_documents_never_overlap():
    data = document(LINES[0], b"{}", LINES[1], b"[", b"]") + b"\n{}\n" + LINES[2] + b"\n"
    offsets = [offset for _, offset in found(data)]
    assert all(one < other for one, other in pairwise(offsets))


@pytest.mark.large
def test_a_document_of_many_facts_takes_linear_time():
    small, large = (document(*([b"{}"] * count)) for count in (500, 16_000))
    assert len(codes(large, "json")) == 16_000
    least, most = (seconds_of(lambda data=data: codes(data, "json")) for data in (small, large))
    assert most < 4 * 32 * least
