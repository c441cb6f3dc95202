"""One valid entry of each variant against named mutations, each with what both profiles must say of it."""

import json
import tracemalloc

import pytest
from cbor2 import CBORTag

from strandline.dialects.ipfslog.author import to_json
from strandline.dialects.ipfslog.codec import (
    dag_cbor,
    dag_pb_block,
    link,
    parse_cid,
    parse_dag_cbor,
)
from strandline.dialects.ipfslog.verify import verify_block, verify_json
from support.ipfslog_cases import book, dag
from support.ipfslog_tampering import (
    BLOCKS,
    CASES,
    CLAIMS,
    JSON_CASES,
    LOOSE,
    MADE,
    MALFORMED,
    PARENT,
    UNPADDED,
    V0_CASES,
    V0_JSON,
    b32,
    changed,
    signed,
    unpadded,
)


def outcome(verdict):
    return verdict.status, verdict.flags if verdict.status == "accepted" else verdict.reasons


@pytest.mark.large
@pytest.mark.parametrize(("name", "variant"), CASES)
def test_a_tampered_block_yields_what_is_wrong_with_it(name, variant):
    _, make, (strict, compat) = BLOCKS[name]
    block = make(variant)
    assert outcome(verify_block(block, None, "strict", book())) == strict
    assert outcome(verify_block(block, None, "compat", book())) == compat


@pytest.mark.parametrize("variant", MADE)
def test_an_altered_block_under_its_old_address_is_a_mismatch_too(variant):
    verdict = verify_block(changed(variant, payload=0), MADE[variant].cid, "strict", book())
    assert verdict.reasons == ("HASH_MISMATCH", "SIGNATURE_INVALID")
    assert verdict.evidence["HASH_MISMATCH"]["claimed"] == MADE[variant].cid


def test_a_claimed_address_can_be_claimed_again_from_the_evidence():
    block = changed("v2", payload=0)
    for claimed in (MADE["v2"].cid, parse_cid(MADE["v2"].cid).raw, "b" + b32(PARENT.record_id)):
        evidence = verify_block(block, claimed, "strict", book()).evidence["HASH_MISMATCH"]
        again = verify_block(block, evidence["claimed"], "strict", book())
        assert again.reasons == ("HASH_MISMATCH", "SIGNATURE_INVALID")
        assert parse_cid(evidence["claimed"]).digest in (MADE["v2"].record_id, PARENT.record_id)
        assert parse_cid(evidence["expected"]).digest == again.record_id


@pytest.mark.parametrize("name", CLAIMS)
def test_a_claimed_address_is_compared_by_digest(name):
    spell, reasons = CLAIMS[name]
    verdict = verify_block(MADE["v2"].block, spell(MADE["v2"].cid), "strict", book())
    assert verdict.reasons == reasons


def test_what_json_cannot_hold_is_not_written_as_json():
    for payload in ([2**64 - 1], b"\x00", link(parse_cid(PARENT.cid).raw)):
        made = verify_block(signed("core2", payload=payload), None, "strict", book()).entry
        with pytest.raises(ValueError, match="blocks"):
            to_json(made)


def test_an_unpadded_signature_is_loose():
    der = bytes.fromhex(UNPADDED.sig)
    r, s = int.from_bytes(der[4 : 4 + der[3]], "big"), int.from_bytes(der[6 + der[3] :], "big")
    block = dag_cbor(parse_dag_cbor(UNPADDED.block).value | {"sig": unpadded(r, s, None)})
    assert outcome(verify_block(block, None, "strict", book())) == MALFORMED
    assert outcome(verify_block(block, None, "compat", book())) == LOOSE


def test_an_entry_of_another_log_does_not_fit_into_a_snapshot():
    verdict = verify_block(MADE["v2"].block, None, "strict", book(), snapshot_id="other")
    assert verdict.reasons == ("LOG_ID_MISMATCH",)
    assert verify_block(MADE["v2"].block, None, "strict", book(), snapshot_id="strand").reasons == ()


@pytest.mark.parametrize("name", V0_CASES)
def test_a_v0_signature_covers_the_log_id_alone(name):
    members, strict, compat = V0_CASES[name]
    block = dag_pb_block(json.dumps(V0_JSON | members, separators=(",", ":")).encode())
    assert outcome(verify_block(block, None, "strict")) == strict
    assert outcome(verify_block(block, None, "compat")) == compat


@pytest.mark.parametrize(
    ("block", "reasons"),
    [
        (dag_pb_block(b"no json"), ("JSON_INVALID",)),
        (dag_pb_block(b'{"a":1,"a":2}'), ("JSON_INVALID",)),
        (b"\x0a\x05abc", ("NOT_AN_ENTRY",)),
        (b"\x12\x00\x0a\x02{}", ("NOT_AN_ENTRY",)),
        (dag_pb_block(b"{}"), ("NOT_AN_ENTRY",)),
        (b"\x0a", ("NOT_AN_ENTRY",)),
    ],
)
def test_a_dag_pb_block_that_is_no_entry_says_so(block, reasons):
    assert verify_block(block).reasons == reasons


@pytest.mark.parametrize("name", JSON_CASES)
def test_an_entry_as_json_is_judged_by_the_block_it_spells(name):
    members, reasons = JSON_CASES[name]
    value = json.loads(to_json(MADE["v2"])) | members
    verdict = verify_json({name: member for name, member in value.items() if member is not ...})
    assert verdict.reasons == reasons
    if not reasons:
        assert (verdict.entry, verdict.block) == (MADE["v2"], MADE["v2"].block)


def test_where_checks_5_to_9_fail_no_block_of_json_is_built():
    value = json.loads(to_json(MADE["v2"]))
    assert verify_json(value | {"next": None}).block is None
    assert verify_json(value | {"payload": 0}).block is not None


def test_an_identity_that_is_no_link_or_text_stays_data():
    assert verify_block(
        dag_cbor({"v": 2, "payload": 0, "clock": 0, "identity": CBORTag(42, b"\x00")})
    ).reasons == ("VARIANT_UNKNOWN",)
    assert set(dag("v2")) == set(dag("core2"))


@pytest.mark.parametrize("stated", [1, True, 1.5, [], {}, ["zdpu"]])
@pytest.mark.parametrize("variant", ["v2", "core2"])
def test_a_hash_of_json_that_is_no_text_is_a_wrong_type_in_every_variant(variant, stated):
    value = json.loads(to_json(MADE[variant])) | {"hash": stated}
    assert verify_json(value).reasons == ("TYPE_INVALID",)


@pytest.mark.parametrize("profile", ["strict", "compat"])
@pytest.mark.parametrize("digits", ["0a", "zz"])
def test_a_judged_key_as_long_as_an_entry_is_not_kept_in_memory(digits, profile):
    tracemalloc.start()
    try:
        held = tracemalloc.get_traced_memory()[0]
        for number in range(4):
            key = digits * 200_000 + f"{number:04x}"
            verdict = verify_block(changed("v2", key=key), None, profile, book())
            assert "KEY_MALFORMED" in verdict.reasons
        del key, verdict
        assert tracemalloc.get_traced_memory()[0] - held < 200_000
    finally:
        tracemalloc.stop()
