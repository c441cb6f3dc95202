"""Scuttlebutt messages: the published ids and signatures, each fault by its reason, and files of messages."""

import hashlib
import json

import pytest

from strandline.dialects.devicelog.author import ssb_sign
from strandline.dialects.devicelog.codec import (
    block_of,
    message_name,
    parse_hmac_key,
    read_documents,
    read_line,
    read_message,
    read_value,
    signed_bytes,
    ssb_id,
    ssb_text,
    write_message,
)
from strandline.dialects.devicelog.types import Entry, Refused
from strandline.dialects.devicelog.verify import judge
from support.devicelog_cases import TABLET, compact, example, feed, lines, ssb_value
from support.devicelog_tampering import GOOD_SSB, SSB, SSB_KEYS, name_of, sized

NAMES = (
    "%MFHuKM+SakQ6wAf3CzW0u/XRpGPJfLEq0M5kBra0kFs=.sha256",
    "%iovgvkQ831VJ69mLV3htqXcf+/EblP4bqkrBzwUPiqM=.sha256",
    "%MNPUKk/d/W4mMCQcD8ZbIszOx9RiIm3XCmE73rgMu2I=.sha256",
)
SIGNATURES = (
    "SFN2hJlJBC0rXpge35yKF2SxkRYtM2Af2MvBQ4W3No5w7y/LwemuPGV4r6MKl9lIPiOshjTn1j2meI9tyf7oBQ==.sig.ed25519",
    "GTA3AslQMnmGjoOD2EyAuJGjgNPYn3jEjFDluFdagxrU8dCZv+n0F8gGsNbCmVbvefFdWzVJwCMTq3ig61TACg==.sig.ed25519",
    "P0YTHMptOd4lcvGyHRzaOYGntX4snJGXu1rbqW1C4NxWDRfF0fZm9T16aLXyEgKrt1DhRPHFCK6XOxINiPO5DA==.sig.ed25519",
)
NETWORK_KEY = b"\x07" * 32


def entries(*values):
    found = [read_line(compact(value)) for value in values]
    assert all(isinstance(each, Entry) for each in found), found
    return found


def reasons(value):
    found = read_line(compact(value)) if isinstance(value, dict) and "value" in value else read_message(value)
    return found.reasons if isinstance(found, Refused) else ()


def test_the_published_feed_has_its_ids_and_signatures():
    assert tuple(map(name_of, feed())) == NAMES
    assert tuple(each["signature"] for each in feed()) == SIGNATURES
    assert [len(ssb_text(each).encode("utf-16-le")) // 2 for each in feed()[:2]] == [335, 487]
    utf8 = hashlib.sha256(ssb_text(feed()[0]).encode()).hexdigest()
    assert utf8 == "e9b9cd802702195ed298d0fd09456e456ef3c0628d52aa3c3cb54f41e3a438c8"


def test_messages_are_signed_as_published():
    first, _, third = feed()
    before = ssb_id(ssb_text(feed()[1]))
    assert ssb_sign(bytes([3]) * 32, None, 1, 1, first["content"]) == first
    assert ssb_sign(bytes([3]) * 32, before, 3, 3, third["content"]) == third
    signed = ssb_sign(bytes([3]) * 32, None, 1, 1, {"type": "post", "text": "x"}, NETWORK_KEY)
    assert name_of(signed) == "%Tkhb9CGWnApciIqkHj/9e2op7EFuHuu+TH/2DYLie8U=.sha256"
    assert judge([compact(signed)], hmac_key=NETWORK_KEY).counts.new == 1


def test_a_message_becomes_an_entry_of_one_log():
    first, second, third = entries(*feed())
    assert second.body == b'{"2":1e-7,"10":1e+21,"type":"test","b":0.1,"a":[null,true,{},[]],"n":0}'
    assert (first.seq, first.lamport, first.prev, first.kind) == (1, 0, None, "msg")
    assert (second.seq, second.lamport, second.prev, second.utc) == (2, 1, first.record_id, 1441065600123)
    assert third.body == b'"AAAA.box"'
    assert {each.namespace for each in (first, second, third)} == {f"group:{TABLET.public.hex()}"}
    assert all(each.raw is not None and json.loads(each.raw) for each in (first, second, third))


def test_the_text_of_an_entry_and_its_line_are_read_as_the_same_entry():
    for each in entries(*feed()):
        assert read_line(block_of(each)) == each
        assert read_line(write_message(each)) == each
        assert ssb_id(each.raw.decode()) == each.record_id
    with pytest.raises(ValueError, match="not a message"):
        write_message(example()["phone 1"])


def test_a_feed_is_accepted_in_any_order_and_waits_for_its_beginning():
    given = list(map(compact, feed()))
    assert judge(given[::-1]).counts.new == 3
    cut = judge(given[1:])
    assert [row.reasons for row in cut.quarantine] == [("PREV_MISSING",)] * 2
    assert {wait for row in cut.quarantine for wait in row.waits_for} == {
        f"record:{each.record_id.hex()}" for each in entries(*feed())[:2]
    }
    assert judge(given[1:], ssb_profile="weak").counts.new == 2


def test_a_message_after_one_of_another_feed_waits_for_ever():
    stranger = ssb_value(TABLET, feed()[0], 2, 1, {"type": "post"})
    of_other = ssb_value(type(TABLET)(b"\x05" * 32), None, 1, 1, {"type": "post"})
    moved = ssb_value(type(TABLET)(b"\x05" * 32), feed()[0], 2, 1, {"type": "post"})
    found = judge(map(compact, (feed()[0], stranger, of_other, moved)))
    assert [row.reasons for row in found.quarantine] == [("PREV_MISSING",)]
    assert found.counts.new == 3


def test_a_sequence_that_skips_is_a_gap_and_no_finding_in_a_weak_lake():
    skipped = ssb_value(TABLET, feed()[0], 3, 1, {"type": "post"})
    given = list(map(compact, (feed()[0], skipped)))
    assert [row.reasons for row in judge(given).quarantine] == [("SEQ_GAP",)]
    assert judge(given, ssb_profile="weak").counts.new == 2


def test_a_network_key_binds_the_signature_but_not_the_id():
    value = ssb_value(TABLET, None, 1, 1, {"type": "post", "text": "x"}, hmac_key=NETWORK_KEY)
    assert name_of(value) == "%Tkhb9CGWnApciIqkHj/9e2op7EFuHuu+TH/2DYLie8U=.sha256"
    assert judge([compact(value)], hmac_key=NETWORK_KEY).counts.new == 1
    assert [row.reasons for row in judge([compact(value)]).quarantine] == [("SIGNATURE_INVALID",)]
    assert [row.reasons for row in judge([compact(feed()[0])], hmac_key=NETWORK_KEY).quarantine] == [
        ("SIGNATURE_INVALID",)
    ]


@pytest.mark.parametrize(
    "text", ["", "AAAA", "x" * 44, "Bw==", "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwf="]
)
def test_a_network_key_has_32_bytes_in_one_spelling(text):
    assert parse_hmac_key(text) is None
    assert parse_hmac_key("BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=") == NETWORK_KEY


@pytest.mark.parametrize("name", [*SSB, *SSB_KEYS])
def test_each_fault_of_a_message_has_its_reasons(name):
    value, expected = {**SSB, **SSB_KEYS}[name]
    given = value if isinstance(value, dict) and "value" in value else {"value": value}
    assert [row.reasons for row in judge([compact(given)]).quarantine] == [expected]


@pytest.mark.parametrize("name", GOOD_SSB)
def test_what_looks_odd_and_is_valid_is_accepted(name):
    assert judge([compact(GOOD_SSB[name])]).counts.new == 1


def test_the_namespace_of_a_refused_message_is_known_once_its_author_is():
    def namespace(name):
        [row] = judge([compact({"value": SSB[name][0]})]).quarantine
        return row.namespace

    feed_of = f"group:{TABLET.public.hex()}"
    assert [namespace(name) for name in ("another hash", "no author", "an extra member", "S + L")] == [
        feed_of, None, None, feed_of,
    ]  # fmt: skip


def test_a_text_of_equal_low_bytes_has_the_same_id_and_no_valid_signature():
    value = feed()[0]
    twin = value | {"content": {"type": "post", "text": value["content"]["text"].replace("S", "\u0153")}}
    assert name_of(twin) == name_of(value)
    for order in ((value, twin), (twin, value)):
        found = judge(map(compact, order))
        assert [each.body for each in found.accepted] == [entries(value)[0].body]
    assert [row.reasons for row in judge([compact(twin)]).quarantine] == [("SIGNATURE_INVALID",)]


def test_a_timestamp_beyond_doubles_is_none():
    line = compact(feed()[0]).replace(b'"timestamp":1,', b'"timestamp":1e400,')
    assert read_line(line).reasons == ("SSB_TIMESTAMP",)


def test_what_is_signed_ends_before_the_signature():
    text = ssb_text(feed()[0])
    assert signed_bytes(text).decode() == ssb_text({k: v for k, v in feed()[0].items() if k != "signature"})


def test_json_is_read_as_javascript_reads_it():
    text = rb'{"b":1,"a":1e400,"2":-0,"1":"\ud800\u0007","b":[],"c":123456789012345678901}'
    assert ssb_text(read_value(text)) == (
        '{\n  "1": "\\ud800\\u0007",\n  "2": 0,\n  "b": [],\n  "a": null,\n  "c": 123456789012345680000\n}'
    )


# Files: what stands in them, and the bytes of each record with its reasons, if it was refused.
A, B = (compact(each) for each in feed()[:2])
FILES = {
    "nothing": (b"", []),
    "blanks": (b" \n\t\r\n", []),
    "an empty array": (b" [ ]\n", []),
    "an array": (b"[" + A + b" ,\n" + B + b"]", [A, B]),
    "values": (A + b"\n\n" + B, [A, B]),
    "after a mark": (b"\xef\xbb\xbf" + A, [A]),
    "two marks": (b"\xef\xbb\xbf" * 2 + A, [(b"\xef\xbb\xbf" + A, "JSON_INVALID")]),
    "values without a blank": (A + B, [A, (B, "JSON_INVALID")]),
    "a bad element": (b"[" + A + b",5,[]," + B + b"]", [A, (b"5", "SSB_NOT_OBJECT"), (b"[]", "SSB_NOT_OBJECT"), B]),
    "no JSON in an array": (b"[" + A + b",x," + B + b"]", [A, (b"x," + B + b"]", "JSON_INVALID")]),
    "no JSON among values": (A + b" x " + B, [A, (b"x " + B, "JSON_INVALID")]),
    "behind the array": (b"[" + A + b"] x", [A, (b"x", "JSON_INVALID")]),
    "another value behind the array": (b"[" + A + b"] " + B, [A, (B, "JSON_INVALID")]),
    "cut after an element": (b"[" + A, [A, (b"", "JSON_INVALID")]),
    "cut after a comma": (b"[" + A + b",", [A, (b"", "JSON_INVALID")]),
    "cut in an element": (b"[" + A + b"," + B[:-9], [A, (B[:-9], "JSON_INVALID")]),
    "an array that is only opened": (b"[", [(b"", "JSON_INVALID")]),
    "a comma too many": (b"[" + A + b",]", [A, (b"]", "JSON_INVALID")]),
    "a comma missing": (b"[" + A + b" " + B + b"]", [A, (B + b"]", "JSON_INVALID")]),
    "another bracket": (b"[" + A + b"}", [A, (b"}", "JSON_INVALID")]),
    "a constant": (b"NaN", [(b"NaN", "JSON_INVALID")]),
    "129 levels": (A + b"\n" + b"[" * 129 + b"]" * 129, [A, (b"[" * 129 + b"]" * 129, "JSON_INVALID")]),
    "128 levels": (b"[" * 128 + b"]" * 128, [(b"[" * 127 + b"]" * 127, "SSB_NOT_OBJECT")]),
    "a text that is not closed": (A + b' "x', [A, (b'"x', "JSON_INVALID")]),
    "a scalar of each kind": (b'1 "a" null', [(each, "SSB_NOT_OBJECT") for each in (b"1", b'"a"', b"null")]),
    "an entry of a device": (b"{}", [(b"{}", "SSB_FIELD_ORDER")]),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_a_whole_file_has_these_records(name):
    content, expected = FILES[name]
    found = [
        each.raw if isinstance(each.found, Entry) else (each.raw, *each.reasons)
        for each in read_documents(content, "json")
    ]
    assert found == expected
    for each in read_documents(content, "json"):
        assert content[each.offset :].startswith(each.raw)


def test_a_line_is_of_the_profile_that_its_own_bytes_decide():
    phone = lines(example()["phone 0"]).strip()
    cases = {
        phone: None,
        b'{"previous":1}': "SSB_FIELD_ORDER",
        rb'{"previou\u0073":1}': "SSB_FIELD_ORDER",
        b'{"value":1}': "SSB_NOT_OBJECT",
        b'{"value":1,"value":{"previous":null},"seq":1}': "SSB_FIELD_ORDER",
        b'{"group":"previous"}': "FIELD_MISSING",
        b'["previous"]': "JSON_INVALID",
        b'{"a":"previous","a":"value"}': "JSON_INVALID",
        b'{"previous":NaN}': "JSON_INVALID",
        b'{"previous":' + b"[" * 129 + b"]" * 129 + b"}": "JSON_INVALID",
    }
    for line, reason in cases.items():
        found = read_line(line)
        assert reason is None or reason in found.reasons, line


def test_lines_have_limits_of_their_profile_and_a_cut_last_one_is_told():
    wide = compact(sized(8192))
    at_most = wide.replace(b"{", b"{" + b" " * (128 * 1024 - len(wide)), 1)
    over = at_most.replace(b"{", b"{ ", 1)
    long = b" " * (2**20 - 2) + b"{}"
    assert [each.reasons for each in read_documents(long + b"\n", "lines")] == [("FIELD_MISSING",)]
    found = list(read_documents(at_most + b"\n" + over + b"\n" + b"x" * (2**20 + 1) + b"\n\r\n \n{", "lines"))
    assert isinstance(found[0].found, Entry)
    assert [each.reasons for each in found[1:]] == [
        ("LINE_TOO_LARGE",), ("LINE_TOO_LARGE",), ("JSON_INVALID", "TRUNCATED"),
    ]  # fmt: skip
    assert [each.reasons for each in read_documents(b"x" * (2**20 + 1), "lines")] == [
        ("LINE_TOO_LARGE", "TRUNCATED")
    ]
    assert [each.reasons for each in read_documents(b"{}", "lines")] == [("FIELD_MISSING",)]


def test_a_whole_file_has_a_limit(monkeypatch):
    from strandline.dialects.devicelog.codec import documents

    monkeypatch.setattr(documents, "MAX_FILE_BYTES", len(A))
    assert [each.reasons for each in read_documents(b"\xef\xbb\xbf" + A, "json")] == [()]
    assert [each.reasons for each in read_documents(A + b"\n", "json")] == [("FILE_TOO_LARGE",)]


def test_names_are_spelled_as_scuttlebutt_spells_them():
    assert message_name(bytes(32)) == "%" + "A" * 43 + "=.sha256"
