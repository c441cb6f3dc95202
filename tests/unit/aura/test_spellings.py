"""Facts in JSON and CBOR: every spelling of a value gives one fact, and every wrong one its code."""

import json
import random

import cbor2
import pytest

from strandline.core.verdict import Finding
from strandline.dialects.aura.codec import (
    ShapeRefused,
    content_json,
    encode,
    parse_fact_cbor,
    parse_fact_json,
    parse_fact_text,
    timestamp_json,
    to_json,
)
from strandline.dialects.aura.codec import facts as facts_module
from support.aura_cases import attested, b32, facts, first_context, genesis, refused, second_context
from support.aura_tampering import ABSENT, PAIR, SHAPES, SNAPSHOT, attestations, changed, subjects, value_of

SUBJECTS = subjects()
A0 = SUBJECTS["A0"]
EVERY = [*facts().values(), *refused().values(), *first_context().values(), *second_context().values()]


def code(found):
    assert isinstance(found, Finding), found
    return found.reason


def as_cbor(value):
    return cbor2.dumps(value, canonical=True)


@pytest.mark.parametrize(("name", "path", "new", "expected"), SHAPES)
def test_a_wrong_member_gives_its_code(name, path, new, expected):
    assert code(parse_fact_json(changed(SUBJECTS[name], path, new))) == expected


def test_the_evidence_leads_to_the_member():
    path = "content.AttestedOp.op.op.AddLeaf.leaf.leaf_id"
    found = parse_fact_json(changed(A0, path, 2**32))
    assert found.evidence == {"field": path, "expected": f"0..{2**32 - 1}", "actual": str(2**32)}
    found = parse_fact_json(changed(A0, "attest", [*attestations(2), 7]))
    assert found.evidence["field"] == "attest.2"


@pytest.mark.parametrize("fact", EVERY, ids=lambda fact: f"{fact.variant}-{fact.order[0]:02x}")
def test_a_fact_is_read_from_json_and_cbor_as_it_was_written(fact):
    assert parse_fact_cbor(fact.cbor).cbor == fact.cbor
    again = parse_fact_text(to_json(fact).encode())
    assert (again.cbor, again.body_id, again.op_id) == (fact.cbor, fact.body_id, fact.op_id)
    members = json.loads(to_json(fact))
    assert (content_json(fact), timestamp_json(fact)) == tuple(
        json.dumps(members[name], separators=(",", ":"), ensure_ascii=False)
        for name in ("content", "timestamp")
    )
    # The order of maps in CBOR is that of cbor2.
    assert as_cbor(fact.value) == fact.cbor


SPELLINGS = [
    ("namespace", "authority:D21EB924-5a21-bff8-b6f5-465be2308d99"),
    ("order", "02" * 32),
    ("order", [2] * 32),
    ("attest", ABSENT),
    ("content.AttestedOp.agg_sig", A0["content"]["AttestedOp"]["agg_sig"].upper()),
    ("content.AttestedOp.signer_count", "2"),
    ("content.AttestedOp.op.op.AddLeaf.leaf.meta", []),
    ("content.AttestedOp.op.op.AddLeaf.leaf.public_key", [0x11] * 32),
    ("content.AttestedOp.op.op.AddLeaf.leaf.device_id", "D0D0D0D0-d0d0-d0d0-d0d0-d0d0d0d0d0d0"),
    ("agreement", {"any": [1, {"depth": {}}]}),
    ("propagation", "x"),
    ("ack_tracked", True),
]


@pytest.mark.parametrize(("path", "new"), SPELLINGS)
def test_another_spelling_is_the_same_fact(path, new):
    assert parse_fact_json(changed(A0, path, new)).cbor == facts()["A0"].cbor


def test_members_in_any_order_are_the_same_fact():
    chance = random.Random(1)

    def shuffled(value):
        if isinstance(value, list):
            return [shuffled(each) for each in value]
        if not isinstance(value, dict):
            return value
        return {name: shuffled(value[name]) for name in chance.sample(list(value), len(value))}

    for fact in EVERY:
        assert parse_fact_json(shuffled(value_of(fact))).cbor == fact.cbor


IDS = ("00000000-0000-0000-0000-000000000001", "ffffffff-0000-0000-0000-000000000000")


def clock(vector):
    return changed(A0, "timestamp", {"LogicalClock": {"lamport": "3", "vector": vector}})


def test_all_spellings_of_a_vector_clock_are_one_clock():
    expected = parse_fact_json(clock([[IDS[0], 5], [IDS[1], 6]])).cbor
    for vector in (
        [[IDS[1], 6], [IDS[0], "5"]],
        {IDS[1].upper(): 6, IDS[0]: 5},
        {"Multiple": {IDS[1]: 6, IDS[0]: 5}},
    ):
        assert parse_fact_json(clock(vector)).cbor == expected
    single = {"Single": {"device": IDS[0], "counter": 5}}
    assert parse_fact_json(clock(single)).cbor == parse_fact_json(clock({IDS[0]: 5})).cbor
    for twice in ([[IDS[1], 6], [IDS[1].upper(), 7]], {IDS[1]: 6, IDS[1].upper(): 6}):
        assert code(parse_fact_json(clock(twice))) == "LIST_DUPLICATE"


def test_lists_are_sorted_and_absent_options_are_null():
    superseded = [PAIR, [PAIR[0], "01" * 32], [PAIR[1], "00" * 32]]
    value = changed(A0, "content", {"Snapshot": SNAPSHOT | {"superseded_facts": superseded}})
    found = parse_fact_json(value).content["superseded_facts"]
    assert found == [[b32(1), b32(1)], [b32(1), b32(2)], [b32(2), bytes(32)]]
    path = "content.Relational.AmpChannelPolicy.skip_window"
    channel = parse_fact_json(changed(SUBJECTS["AmpChannelPolicy"], path, ABSENT))
    assert channel.content["skip_window"] is None
    everybody = parse_fact_json(
        changed(SUBJECTS["Capability"], "content.Relational.Capability.actions", ["é", "z", "a"])
    )
    assert everybody.content["actions"] == ["a", "z", "é"]


@pytest.mark.parametrize(
    ("raw", "cause"),
    [(b"{", "syntax"), (b'{"a":1,"a":2}', "duplicate_key"), (b'{"a":NaN}', "constant"), (b"\xff", "utf8"),
     (b"{}{}", "trailing"), (b'{"a":' * 33 + b"1" + b"}" * 33, "depth"), (b'["\\ud800"]', "surrogate"),
     (b"[" + b"9" * 1025 + b"]", "number")],
)  # fmt: skip
def test_what_is_not_strict_json_is_no_fact(raw, cause):
    found = parse_fact_text(raw)
    assert (found.reason, found.evidence["cause"]) == ("JSON_INVALID", cause)


def test_a_fact_may_have_a_mebibyte_and_no_more(monkeypatch):
    assert facts_module.MAX_FACT_BYTES == 2**20
    fact = facts()["A0"]
    monkeypatch.setattr(facts_module, "MAX_FACT_BYTES", len(fact.cbor))
    longer = changed(A0, "content.AttestedOp.op.op.AddLeaf.leaf.meta", "00")
    assert parse_fact_json(A0) == parse_fact_cbor(fact.cbor) == fact
    found = parse_fact_json(longer)
    assert (found.reason, found.evidence["actual"]) == ("FACT_TOO_LARGE", len(fact.cbor) + 1)
    # Of JSON it is the last check, of CBOR the first.
    assert code(parse_fact_json(changed(longer, "attest", [1]))) == "TYPE_INVALID"
    assert code(parse_fact_cbor(b"\xff" * (len(fact.cbor) + 1))) == "FACT_TOO_LARGE"
    assert code(parse_fact_cbor(b"\xff" * len(fact.cbor))) == "CBOR_INVALID"
    with pytest.raises(ShapeRefused, match="FACT_TOO_LARGE"):
        encode({**fact.value, "attest": first_attestation()})


def first_attestation():
    return attested(first_context()["Generic"], "u").value["attest"]


def set_in(value, path, new):
    return as_cbor(changed(dict(value), path, new))


CBOR = [
    ("an unknown member", "extra", 1, "FIELD_UNKNOWN"),
    ("delivery metadata", "agreement", 1, "FIELD_UNKNOWN"),
    ("no attestations", "attest", ABSENT, "FIELD_MISSING"),
    ("no meta", "content.AttestedOp.op.op.AddLeaf.leaf.meta", ABSENT, "FIELD_MISSING"),
    ("hex", "order", "02" * 32, "TYPE_INVALID"),
    ("an array of integers", "order", [2] * 32, "TYPE_INVALID"),
    ("a uuid as text", "content.AttestedOp.op.op.AddLeaf.leaf.device_id", "d0" * 16, "TYPE_INVALID"),
    ("a short uuid", "content.AttestedOp.op.op.AddLeaf.leaf.device_id", b"d", "TYPE_INVALID"),
    ("digits", "content.AttestedOp.signer_count", "2", "TYPE_INVALID"),
    ("a negative integer", "content.AttestedOp.signer_count", -1, "INT_RANGE"),
    ("a namespace as text", "namespace", "authority:d21eb924-5a21-bff8-b6f5-465be2308d99", "TYPE_INVALID"),
    ("a short token", "order", b"\x02" * 31, "LENGTH_INVALID"),
    ("a float", "order", 1.5, "CBOR_INVALID"),
    ("undefined", "order", cbor2.undefined, "CBOR_INVALID"),
    ("a tag", "order", cbor2.CBORTag(42, b"\x00"), "CBOR_INVALID"),
]


@pytest.mark.parametrize(("path", "new", "expected"), [row[1:] for row in CBOR], ids=[row[0] for row in CBOR])
def test_a_wrong_member_in_cbor_gives_its_code(path, new, expected):
    assert code(parse_fact_cbor(set_in(facts()["A0"].value, path, new))) == expected


def test_cbor_has_one_encoding():
    cbor = facts()["A0"].cbor
    for other in (
        cbor.replace(b"\x6csigner_count\x02", b"\x6csigner_count\x18\x02"),
        cbor.replace(b"\x66attest\x80", b"\x66attest\x9f\xff"),
        b"\xbf" + cbor[1:] + b"\xff",
        cbor2.dumps(dict(reversed(facts()["A0"].value.items()))),
    ):
        assert other != cbor
        assert code(parse_fact_cbor(other)) == "CBOR_NOT_CANONICAL"
    assert code(parse_fact_cbor(cbor + b"\x00")) == "CBOR_INVALID"
    assert {code(parse_fact_cbor(cbor[:end])) for end in range(len(cbor))} == {"CBOR_INVALID"}


def test_lists_in_cbor_ascend_and_a_repetition_comes_first():
    value = facts()["Rp"].value
    path = "content.AttestedOp.op.op.RotateEpoch.affected"
    assert code(parse_fact_cbor(set_in(value, path, [2, 1]))) == "CBOR_NOT_CANONICAL"
    assert code(parse_fact_cbor(set_in(value, path, [2, 1, 2]))) == "LIST_DUPLICATE"
    both = attested(attested(first_context()["Generic"], "u"), "v").value
    turned = {**both, "attest": both["attest"][::-1]}
    assert code(parse_fact_cbor(as_cbor(turned))) == "CBOR_NOT_CANONICAL"
    turned["attest"] = both["attest"][:1] * 2
    assert code(parse_fact_cbor(as_cbor(turned))) == "LIST_DUPLICATE"


def test_a_flipped_bit_changes_the_fact_or_ends_it():
    cbor = facts()["A0"].cbor
    for bit in range(0, 8 * len(cbor), 3):
        other = bytearray(cbor)
        other[bit // 8] ^= 1 << bit % 8
        found = parse_fact_cbor(bytes(other))
        assert isinstance(found, Finding) or found.fact_id != facts()["A0"].fact_id


def test_a_value_without_the_form_of_a_fact_is_not_encoded():
    with pytest.raises(ShapeRefused):
        encode({**genesis().value, "order": b"short"})
