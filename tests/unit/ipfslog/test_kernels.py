"""Kernels say of a batch what the reference says of each of its rows."""

import hashlib
import json

import pandas as pd
import pyarrow as pa
import pytest

from strandline.dialects.ipfslog.codec import (
    canonical_cid,
    dag_cbor,
    identity_of,
    identity_value,
    parse_cid,
    parse_dag_cbor,
)
from strandline.dialects.ipfslog.info import PROFILE
from strandline.dialects.ipfslog.kernels import (
    IDENTITY,
    IDENTITY_CHARS,
    JUDGED,
    STORED_IDENTITY,
    identities,
    judgement,
    refuted,
)
from strandline.dialects.ipfslog.kernels.entries import ENTRY_FACTS, facts_of
from strandline.dialects.ipfslog.types import BlockDocument, record_id
from strandline.dialects.ipfslog.verify import (
    Foreign,
    check_block,
    read_element,
    verify_block,
    verify_identity,
)
from strandline.kernels.containers import StreamLimits
from strandline.kernels.judging import Judging, judged
from strandline.kernels.lines import RawLimits
from strandline.kernels.reading import ReadOptions
from support.ipfslog_cases import book, dag, entry, who
from support.ipfslog_tampering import signed

ALICE, BOB = who("alice").record, who("bob").record


OPTIONS = ReadOptions({PROFILE: "strict"}, StreamLimits(10**6, 100), RawLimits(10**6, 10))


def changed(made, **members):
    return dag_cbor(parse_dag_cbor(made.block).value | members)


def blocks():
    made = [
        *dag("v2").values(),
        *dag("core2").values(),
        entry({"op": "PUTALL", "docs": [{"key": 1}]}, "v1"),
        entry(0, "v0"),
    ]
    v2, core = dag("v2")["b2"], dag("core2")["b2"]
    forged = identity_value(ALICE) | {"id": BOB.id}
    return [
        *[(each.block, parse_cid(each.cid).raw, None) for each in made],
        (v2.block, made[0].cid, None),
        (v2.block, None, "other"),
        (changed(v2, payload=1), None, None),
        (changed(v2, identity=identity_value(BOB)), None, None),
        (changed(v2, identity=forged), None, "strand"),
        (changed(v2, identity=identity_value(ALICE) | {"type": "DID"}), None, None),
        (changed(core, payload=1), None, None),
        (changed(core, identity=who("dora", "core2").cid), None, None),
        (v2.block[:-1], None, None),
        (b"", None, None),
    ]


def verdicts(given, **columns):
    """The rows of identities with these blocks; `columns` say the same of each."""
    alike = {"is_record": False, "is_used": True, "source": "a file", "stored": None} | columns
    rows = [alike | {"record_id": hashlib.sha256(block or b"").digest(), "block": block} for block in given]
    schema = pa.schema(
        [
            ("record_id", pa.binary()), ("block", pa.binary()), ("is_record", pa.bool_()), ("is_used", pa.bool_()),
            ("source", pa.string()), ("stored", pa.struct(list(STORED_IDENTITY))),
        ]
    )  # fmt: skip
    batches = list(identities([pa.RecordBatch.from_pylist(rows, schema)]))
    assert {batch.schema for batch in batches} == {IDENTITY}
    return [row for batch in batches for row in batch.to_pylist()]


@pytest.mark.parametrize("profile", ["strict", "compat"])
def test_the_facts_of_a_block_and_the_verdict_on_its_identity_make_the_verdict_of_the_reference(profile):
    given = blocks()
    checked = [
        check_block(block, claimed, profile, snapshot_id=snapshot) for block, claimed, snapshot in given
    ]
    facts = pd.DataFrame([facts_of(each) for each in checked], columns=list(ENTRY_FACTS))
    embedded = facts["identity_block"].dropna().unique()
    valid = {row["record_id"]: row["valid"] for row in verdicts(embedded)}
    for (block, claimed, snapshot), row in zip(given, facts.itertuples(), strict=True):
        expected = verify_block(block, claimed, profile, book(), snapshot_id=snapshot)
        reasons = set(row.reasons)
        if (
            row.identity_block is not None
            and "IDENTITY_TYPE_UNSUPPORTED" not in reasons
            and not valid[row.identity_digest]
        ):
            reasons.add("IDENTITY_INVALID")
        if row.variant == "core2" and row.identity_digest not in book():
            reasons.add("IDENTITY_MISSING")
        assert (tuple(sorted(reasons)), row.record_id, row.namespace) == (
            expected.reasons, expected.record_id, expected.namespace,
        )  # fmt: skip
        assert (row.evidence is None) == (not row.reasons)
        if row.reasons:
            assert set(json.loads(row.evidence)) == set(row.reasons)
            assert (row.cid, row.ops) == (None, None)
        elif expected.entry is not None:
            found = expected.entry
            assert (row.cid, row.variant, row.log_id, row.key, row.sig, row.clock_id, row.identity_digest) == (
                found.cid, found.variant, found.log_id, found.key, found.sig, found.clock_id, found.identity_digest,
            )  # fmt: skip
            assert (tuple(row.next), tuple(row.refs), row.clock_time) == (
                found.next,
                found.refs,
                found.clock_time,
            )
            assert tuple(row.flags) == found.flags
            assert row.writer == (None if found.variant == "core2" else found.writer)
    assert facts["ops"].iloc[18] == [("PUTALL", "1", None, 0, None)]
    assert (facts["payload_json"].iloc[0], facts["value_json"].iloc[0]) == (
        '{"key":"x","op":"PUT","value":1}',
        "1",
    )


def test_identities_of_a_batch_have_the_verdict_of_the_reference():
    forged = identity_of(identity_value(ALICE) | {"id": BOB.id})
    found = [ALICE, forged, who("bob", "core2").record]
    rows = verdicts([each.block for each in found])
    assert [row["valid"] for row in rows] == [True, False, True]
    assert [(row["id"], row["type"], row["block"]) for row in rows] == [
        (each.id, each.type, each.block) for each in found
    ]
    assert [verify_identity(each).is_valid for each in found] == [True, False, True]


def test_an_identity_becomes_a_row_if_it_was_delivered_alone_or_a_valid_one_is_used():
    blocks = [ALICE.block, identity_of(identity_value(ALICE) | {"id": BOB.id}).block]
    for is_record, is_used, expected in [
        (True, False, [True, True]), (False, True, [True, False]), (False, False, [False, False]),
    ]:  # fmt: skip
        rows = verdicts(blocks, is_record=is_record, is_used=is_used)
        assert [row["is_row"] for row in rows] == expected
        assert {(row["is_new"], row["is_record"], row["source"]) for row in rows} == {
            (True, is_record, "a file")
        }


def test_a_stored_identity_keeps_its_verdict_and_one_that_nobody_delivered_has_none():
    [row] = verdicts([ALICE.block])
    stored = {name: row[name] for name in STORED_IDENTITY.names} | {"valid": False}
    for block in (ALICE.block, None):
        [again] = verdicts([block], stored=stored, is_used=False)
        assert again == stored | {"source": None, "is_new": False, "is_record": False, "is_row": True}
    assert verdicts([None]) == []


@pytest.mark.parametrize("members", [{"publicKey": "k" * 1000}, {"type": "t" * 1000}, {"id": BOB.id}])
def test_an_entry_is_refuted_as_in_the_reference_by_the_start_of_its_identity(members):
    named = identity_of(identity_value(who("alice", "core2").record) | members)
    made = entry("hello", "core2")
    block = signed("core2", identity=canonical_cid(named.digest))
    expected = verify_block(block, None, "strict", {named.digest: verify_identity(named)})
    row = {
        "judge_id": made.record_id, "variant": "core2", "key": made.key, "reasons": [], "evidence": None,
        "valid": False, "identity_digest": named.digest, "public_key": named.public_key[:IDENTITY_CHARS],
        "identity_type": named.type[:IDENTITY_CHARS],
    }  # fmt: skip
    [found] = next(refuted([pa.RecordBatch.from_pylist([row])])).to_pylist()
    assert (tuple(found["reasons"]), json.loads(found["evidence"])) == (expected.reasons, expected.evidence)
    assert expected.reasons


@pytest.mark.parametrize("payload", ["hello", "another"])
@pytest.mark.parametrize("members", [{}, {"id": BOB.id}])
def test_an_entry_that_its_own_block_refutes_has_the_reasons_and_evidence_of_both(members, payload):
    """Of an identity that fits and is refuted only its validity is left to report: else there is no row."""
    named = identity_of(identity_value(ALICE) | members)
    block = changed(entry("hello", "v2"), identity=identity_value(named), payload=payload)
    expected, checked = verify_block(block), check_block(block, None, "strict")
    facts = dict(zip(ENTRY_FACTS, facts_of(checked), strict=True))
    row = {
        "judge_id": checked.record_id, "variant": None, "key": None, "reasons": facts["reasons"],
        "evidence": facts["evidence"], "valid": False, "identity_digest": named.digest,
        "public_key": named.public_key, "identity_type": named.type,
    }  # fmt: skip
    [found] = next(refuted([pa.RecordBatch.from_pylist([row])])).to_pylist()
    reasons, evidence = found["reasons"], json.loads(found["evidence"])
    if not members:
        assert evidence.pop("IDENTITY_INVALID") == {"identity": named.digest.hex()}
        reasons.remove("IDENTITY_INVALID")
    assert (tuple(reasons), evidence) == (expected.reasons, expected.evidence)
    assert len(expected.reasons) == bool(members) + (payload == "another")


@pytest.mark.parametrize("claimed", [None, "a wrong one"])
@pytest.mark.parametrize("value", [{"a": 1}, [1], {"payload": 1}, b"bytes"])
def test_a_value_that_a_car_would_have_of_others_is_astray_alone_and_what_names_itself_an_entry_is_one(
    value, claimed
):
    block = dag_cbor(value)
    found = judgement.judge(block, {"claimed": claimed, "snapshot_id": None}, OPTIONS)
    in_car = read_element(BlockDocument(block, b"\x01\x71\x12\x20" + record_id(block), 0), "strict")
    assert found["kind"] == ("stray" if isinstance(in_car, Foreign) else "record")
    wrong = "ENTRY_ENCRYPTED" if isinstance(value, bytes) else "NOT_AN_ENTRY"
    assert found["reasons"] == sorted({wrong} | ({"CID_MALFORMED"} if claimed else set()))
    assert isinstance(in_car, Foreign) == (value in ({"a": 1}, [1]))


def test_a_block_that_meets_a_bug_of_ours_is_an_entry_that_waits_and_no_block_of_others(monkeypatch):
    made = [entry(number, "v2") for number in range(2)]

    def read_element(document, profile):
        if document.block == made[1].block:
            raise ZeroDivisionError("nobody may see this")
        return judgement_read(document, profile)

    judgement_read = judgement.read_element
    monkeypatch.setattr(judgement, "read_element", read_element)
    rows = [
        {
            "judge_id": each.record_id,
            "record_id": each.record_id,
            "block": each.block,
            "claimed": None,
            "snapshot_id": None,
        }
        for each in made
    ]
    schema = pa.schema(
        [
            ("judge_id", pa.binary()),
            ("record_id", pa.binary()),
            ("block", pa.binary()),
            ("claimed", pa.string()),
            ("snapshot_id", pa.string()),
        ]
    )
    [found] = judged([pa.RecordBatch.from_pylist(rows, schema)], Judging(judgement.judge, JUDGED), OPTIONS)
    sound, broken = found.to_pylist()
    assert (sound["kind"], sound["reasons"]) == ("record", [])
    assert (broken["kind"], broken["reasons"], broken["block"]) == (
        "record",
        ["INTERNAL_ERROR"],
        made[1].block,
    )
    assert json.loads(broken["evidence"])["INTERNAL_ERROR"]["class"] == "ZeroDivisionError"
    assert "nobody" not in broken["evidence"]
