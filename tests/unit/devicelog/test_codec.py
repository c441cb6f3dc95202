"""Device logs: netstrings, bodies, and lines, each fault by its reason."""

import base64
import dataclasses
import hashlib
import json
from typing import Any

import pytest

from strandline.core.ed25519 import Ed25519Key, verify_ed25519
from strandline.dialects.devicelog.codec import (
    entry_id,
    netstrings,
    parse_netstrings,
    parse_statement,
    read_entry,
    tagged_hash,
    write_body,
    write_entry,
)
from strandline.dialects.devicelog.types import (
    AddStatement,
    Entry,
    KeyStatement,
    Refused,
    RemoveStatement,
    ScrewStatement,
)

PHONE, PC = Ed25519Key(b"\x01" * 32), Ed25519Key(b"\x02" * 32)
GROUP = "a1061575cec68c6d6f63fcd1bca458abadbfeb629e419270f3bc488f198d7f32"
SIG = (
    "1fae6affce072bde1b24127c3febde020cb457d28d33b32c3d0c33ecea50cdcd"
    "a4a79139724c25c6cee77efe927786292567acbd6db304e689f9e8fb41219c0b"
)


def line_of(key: Ed25519Key = PHONE, body: bytes = b"", **changes: Any) -> dict[str, Any]:
    """The members of a signed line: by default the first message after the phone's key entry."""
    fields: dict[str, Any] = {
        "group": GROUP, "log": key.public.hex(), "seq": 1, "kind": "msg", "lamport": 0, "utc": 0, "prev": GROUP,
        "deps": [],
    } | changes  # fmt: skip
    digest = entry_id(
        group=bytes.fromhex(fields["group"]) or None, log=bytes.fromhex(fields["log"]), seq=fields["seq"],
        kind=fields["kind"], lamport=fields["lamport"], utc=fields["utc"], prev=bytes.fromhex(fields["prev"]) or None,
        deps=[bytes.fromhex(each) for each in fields["deps"]], body_size=len(body),
        body_hash=hashlib.sha256(body).digest(),
    )  # fmt: skip
    end = {"body": base64.b64encode(body).decode(), "id": digest.hex(), "sig": key.sign(digest).hex()}
    return fields | end


def founding(**changes: Any) -> dict[str, Any]:
    body = changes.pop("body", write_body(KeyStatement("phone", (PC.public,))))
    named = {"group": "", "seq": 0, "kind": "key", "lamport": -1, "prev": ""}
    return line_of(body=body, **(named | changes))


def read(members: dict[str, Any]) -> Entry | Refused:
    return read_entry(json.dumps(members).encode())


def reasons(members: dict[str, Any]) -> tuple[str, ...]:
    found = read(members)
    return found.reasons if isinstance(found, Refused) else ()


def test_the_published_hashes_of_netstrings():
    assert tagged_hash("").hex() == "643d76d2766c1c66bf6df40630304dc3b86aa16ace3849a62e16419d2ed3cce7"
    assert netstrings("abc", 12) == b"3:abc,2:12,"
    assert tagged_hash("abc", 12).hex() == "009808d464f973cce49f64f289b26e6ea770b48014edfdb548e2ae0444050da7"


def test_the_published_founder_is_written_and_read():
    members = founding()
    line = json.dumps(members, separators=(",", ":")).encode()
    entry = read_entry(line)
    assert isinstance(entry, Entry)
    assert entry.record_id.hex() == GROUP
    assert entry.sig.hex() == SIG
    assert verify_ed25519(entry.log, entry.record_id, entry.sig)
    assert (entry.namespace, entry.is_founder, entry.body_size) == (f"group:{GROUP}", True, 76)
    assert entry.body_hash.hex() == "5dca574912b63b529030195892ecbd382471e3b2d57555847c22640ad75e9b0f"
    assert entry.statement == KeyStatement("phone", (PC.public,))
    assert write_entry(entry) == line


def test_members_may_come_in_any_order_and_with_blanks():
    members = line_of(body=b"hello")
    shuffled = dict(reversed(members.items()))
    assert read_entry(json.dumps(shuffled, indent=1).encode() + b"\r") == read(members)


@pytest.mark.parametrize(
    "data", [b"", b"0:,", b"3:abc,2:12,", b"1:\x00,", b"10:0123456789,"]
)  # fmt: skip
def test_netstrings_are_read_as_written(data):
    fields = parse_netstrings(data)
    assert fields is not None
    assert netstrings(*fields) == data


@pytest.mark.parametrize(
    "data",
    [b"3:abc", b"3:abcd,", b"03:abc,", b"00:,", b"+3:abc,", b" 3:abc,", b":,", b"3abc,", b"-1:,", b"4:abc,", b"x",
     b"1:a,x", b"99999999:a,", b"\xb2:ab,"],
)  # fmt: skip
def test_other_bytes_are_no_netstrings(data):
    assert parse_netstrings(data) is None


A, B = b"\xaa" * 32, b"\xbb" * 32
STATEMENTS = {
    "key": KeyStatement("pc"),
    "add-log": AddStatement(A),
    "remove-log": RemoveStatement(A, 3, B),
    "screw": ScrewStatement(3, A, 5, B, 8, A, (A, B)),
}


@pytest.mark.parametrize("kind", STATEMENTS)
def test_a_statement_is_read_as_written(kind):
    assert parse_statement(kind, write_body(STATEMENTS[kind])) == STATEMENTS[kind]


def test_a_removal_before_the_first_entry_names_no_last_one():
    removal = RemoveStatement(A, -1, None)
    assert parse_statement("remove-log", write_body(removal)) == removal


HA, HB = A.hex(), B.hex()
BAD_BODIES = {
    "key": [[], ["x" * 65], ["a\x00"], ["\x7f"], [b"\xff"], ["pc", HA]],
    "add-log": [[], [HA, HB], [HA.upper()], [HA[:-2]], [A]],
    "remove-log": [[HA, 3], [HA, 3, ""], [HA, -1, HB], [HA, -2, HB], [HA, "03", HB], [HA, "-0", HB], [HA, 2**53, HB],
                   ["", 3, HB], [HA, 3, HB, ""]],
    "screw": [[3, HA, 5, HB, 8, HA], [3, HA, 3, HB, 8, HA, HA], [6, HA, 7, HB, 5, HA, HA],
              [3, HA, 5, HB, 8, HA, HB, HA],
              [3, HA, 5, HB, 8, HA, HA, HA], [3, HA, 5, HB, 8, ""], [-1, HA, 5, HB, 8, HA, HA], [3, HA, 5], [],
              [3, "", 5, HB, 8, HA, HA]],
}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "fields"), [(kind, each) for kind in BAD_BODIES for each in BAD_BODIES[kind]]
)
def test_a_body_of_another_form_states_nothing(kind, fields):
    assert parse_statement(kind, netstrings(*fields)) is None


@pytest.mark.parametrize("kind", BAD_BODIES)
def test_a_body_of_another_form_is_refused(kind):
    starts = {"seq": 0, "prev": "", "deps": [HA]} if kind == "key" else {}
    for fields in BAD_BODIES[kind]:
        assert reasons(line_of(kind=kind, body=netstrings(*fields), **starts)) == ("BODY_FORMAT",)


OWN = PHONE.public
FOUNDER_BODIES = [(A, A), (OWN,), (OWN, A), tuple(i.to_bytes(32, "big") for i in range(1024))]


@pytest.mark.parametrize("initial", FOUNDER_BODIES)
def test_a_founder_names_at_most_1023_distinct_other_logs(initial):
    assert reasons(founding(body=write_body(KeyStatement("phone", initial)))) == ("BODY_FORMAT",)
    assert reasons(founding(body=write_body(KeyStatement("phone", FOUNDER_BODIES[3][:1023])))) == ()


def changed(**changes: Any) -> dict[str, Any]:
    return line_of() | changes


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in line_of().items() if key != name}


MANY = [i.to_bytes(32, "big").hex() for i in range(1025)]
TAMPERED = {
    "no body": (without("body"), ("FIELD_MISSING",)),
    "one more": (changed(note=1), ("FIELD_UNKNOWN",)),
    "one more for another": (without("utc") | {"UTC": 0}, ("FIELD_MISSING", "FIELD_UNKNOWN")),
    "upper case": (changed(id=line_of()["id"].upper()), ("TYPE_INVALID",)),
    "log empty": (changed(log=""), ("TYPE_INVALID",)),
    "sig of 63 bytes": (changed(sig="00" * 63), ("TYPE_INVALID",)),
    "seq a text": (changed(seq="1"), ("TYPE_INVALID",)),
    "seq a bool": (changed(seq=True), ("TYPE_INVALID",)),
    "seq 1.0": (changed(seq=1.0), ("TYPE_INVALID",)),
    "seq -1": (changed(seq=-1), ("INT_RANGE",)),
    "seq 2^53": (changed(seq=2**53), ("INT_RANGE",)),
    "lamport -2": (changed(lamport=-2), ("INT_RANGE",)),
    "utc after 9999": (changed(utc=253402300800000), ("INT_RANGE",)),
    "kind null": (changed(kind=None), ("TYPE_INVALID",)),
    "deps null": (changed(deps=None), ("TYPE_INVALID",)),
    "a dep a number": (changed(deps=[1]), ("TYPE_INVALID",)),
    "1,025 deps": (changed(deps=MANY), ("DEPS_TOO_MANY",)),
    "1,025 deps, descending": (changed(deps=MANY[::-1]), ("DEPS_ORDER", "DEPS_TOO_MANY")),
    "a dep twice": (changed(deps=[HA, HA]), ("DEPS_ORDER",)),
    "body not padded": (changed(body="YQ"), ("TYPE_INVALID",)),
    "body not canonical": (changed(body="YR=="), ("TYPE_INVALID",)),
    "body outside ASCII": (changed(body="Y\xe9=="), ("TYPE_INVALID",)),
    "body null": (changed(body=None), ("TYPE_INVALID",)),
    "body too large": (line_of(body=bytes(262_145)), ("BODY_TOO_LARGE",)),
    "two of one step": (changed(seq=-1, body=None), ("INT_RANGE", "TYPE_INVALID")),
    "kind unknown": (line_of(kind="add_log"), ("KIND_UNKNOWN",)),
    "message at 0": (line_of(seq=0), ("KEY_SHAPE",)),
    "message without prev": (line_of(prev=""), ("KEY_SHAPE",)),
    "message without group": (line_of(group=""), ("KEY_SHAPE",)),
    "key at 1": (line_of(kind="key", body=b"1:a,", prev="", deps=[HA]), ("KEY_SHAPE",)),
    "key after an entry": (line_of(kind="key", body=b"1:a,", seq=0, deps=[HA]), ("KEY_SHAPE",)),
    "key without grant": (line_of(kind="key", body=b"1:a,", seq=0, prev=""), ("KEY_SHAPE",)),
    "key with two grants": (line_of(kind="key", body=b"1:a,", seq=0, prev="", deps=[HA, HB]), ("KEY_SHAPE",)),
    "founder with a dep": (founding(deps=[HA]), ("KEY_SHAPE",)),
    "founder at clock 0": (founding(lamport=0), ("KEY_SHAPE",)),
    "ack with a body": (line_of(kind="ack", body=b"0:,"), ("BODY_FORMAT",)),
}  # fmt: skip
SPELLED = {
    "-0": "TYPE_INVALID", "1.0": "TYPE_INVALID", "1e3": "TYPE_INVALID", "9" * 1024: "INT_RANGE",
    "9" * 100_000: "JSON_INVALID",
}  # fmt: skip


@pytest.mark.parametrize("number", SPELLED)
def test_a_number_has_one_spelling(number):
    line = json.dumps(line_of()).replace('"seq": 1', f'"seq": {number}').encode()
    found = read_entry(line)
    assert isinstance(found, Refused)
    assert found.reasons == (SPELLED[number],)


def test_a_screw_of_numbers_without_end_is_refused_at_once():
    assert reasons(line_of(kind="screw", body=netstrings("9" * 100_000, HA, 5, HB, 8, HA, HA))) == (
        "BODY_FORMAT",
    )


ALTERED = {
    "group": HA, "log": PC.public.hex(), "seq": 2, "lamport": 1, "utc": 1, "prev": HA, "deps": [HA], "body": "YQ==",
    "id": HA, "kind": "ack",
}  # fmt: skip


@pytest.mark.parametrize("name", TAMPERED)
def test_each_fault_has_its_reasons(name):
    members, expected = TAMPERED[name]
    assert reasons(members) == expected


@pytest.mark.parametrize("name", ALTERED)
def test_an_altered_field_gives_another_id(name):
    assert reasons(line_of()) == ()
    assert reasons(changed(**{name: ALTERED[name]})) == ("ID_MISMATCH",)


@pytest.mark.parametrize(
    ("line", "cause"),
    [(b"", "syntax"), (b"[]", "syntax"), (b"null", "syntax"), (b'{"a":1,"a":1}', "duplicate_key"),
     (b"{} {}", "trailing"),
     (b'{"seq":NaN}', "constant"), (b"\xff", "utf8"), (b'{"a":' * 33 + b"1" + b"}" * 33, "depth")],
)  # fmt: skip
def test_what_is_no_strict_object_tells_its_cause(line, cause):
    found = read_entry(line)
    assert isinstance(found, Refused)
    assert found.evidence["JSON_INVALID"]["cause"] == cause  # type: ignore[call-overload, index]


def test_a_line_has_at_most_a_mebibyte():
    line = json.dumps(line_of()).encode()
    assert isinstance(read_entry(line.ljust(2**20)), Entry)
    found = read_entry(line.ljust(2**20 + 1))
    assert isinstance(found, Refused)
    assert found.reasons == ("LINE_TOO_LARGE",)


def test_the_largest_body_is_accepted():
    assert reasons(line_of(body=bytes(262_144))) == ()


@pytest.mark.parametrize(
    ("members", "namespace"),
    [(changed(seq=-1), None), (line_of(kind="x"), f"group:{GROUP}"), (changed(utc=1), f"group:{GROUP}"),
     (founding(deps=[HA]), None), (founding() | {"utc": 1}, None)],
)  # fmt: skip
def test_a_refused_line_has_a_namespace_once_its_group_is_known(members, namespace):
    found = read(members)
    assert isinstance(found, Refused)
    assert (found.namespace, found.record_id) == (namespace, None)


def test_an_entry_without_its_body_has_no_line():
    entry = read(line_of())
    assert isinstance(entry, Entry)
    with pytest.raises(ValueError, match="without its body"):
        write_entry(dataclasses.replace(entry, body=None))
