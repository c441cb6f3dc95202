"""Each reason comes with its evidence: the members that its readers look for, and the field that is wrong."""

import json
from collections import defaultdict
from collections.abc import Iterator

from strandline.contracts.reasons import reasons
from strandline.dialects.ipfslog.author import to_json
from strandline.dialects.ipfslog.codec import dag_pb_block
from strandline.dialects.ipfslog.verify import Verdict, verify_block, verify_json
from support.ipfslog_cases import book
from support.ipfslog_tampering import BLOCKS, CASES, CLAIMS, JSON_CASES, MADE, V0_CASES, V0_JSON

NO_FIELD = [None]
EVIDENCE = {
    ("BLOCK_TOO_LARGE", "actual expected"): NO_FIELD,
    ("CBOR_INVALID", "cause"): NO_FIELD,
    ("CBOR_NOT_CANONICAL", "cause"): NO_FIELD,
    ("CID_MALFORMED", "actual field"): ["cid", "identity", "next[0]", "refs[0]"],
    ("CID_NOT_CANONICAL", "actual field"): ["identity"],
    ("CID_UNSUPPORTED", "actual field"): ["cid", "next[0]", "next[1]"],
    ("CLOCK_ID_MISMATCH", "actual expected field"): ["clock.id"],
    ("CLOCK_OUT_OF_RANGE", "actual expected field"): ["clock.time"],
    ("ENTRY_ENCRYPTED", "bytes"): NO_FIELD,
    ("FIELD_MISSING", "field"): ["hash", "id", "identity", "key", "refs"],
    ("FIELD_UNKNOWN", "field"): ["hash", "more", "refs"],
    ("FLOAT_WIDTH", "actual expected"): NO_FIELD,
    ("HASH_MISMATCH", "claimed expected"): NO_FIELD,
    ("IDENTITY_INVALID", "identity"): NO_FIELD,
    ("IDENTITY_MISSING", "actual field"): ["identity"],
    ("IDENTITY_TYPE_UNSUPPORTED", "actual field"): ["identity.type"],
    ("ID_INVALID", "actual expected field"): ["id"],
    ("KEY_IDENTITY_MISMATCH", "actual expected field"): ["key"],
    ("KEY_MALFORMED", "actual field"): ["key"],
    ("NOT_AN_ENTRY", "actual expected"): NO_FIELD,
    ("NOT_AN_ENTRY", "cause field"): ["clock", "payload", "v"],
    ("NUMBER_OUT_OF_RANGE", "expected"): NO_FIELD,
    ("PAYLOAD_NOT_JSON", "field"): ["payload"],
    ("SIGNATURE_INVALID", "field signed_sha256"): ["sig"],
    ("SIGNATURE_MALFORMED", "actual field"): ["sig"],
    ("SIGNATURE_WEAK", "field"): ["sig"],
    ("TYPE_INVALID", "actual field"): ["clock", "hash", "identity", "next", "sig"],
    ("VARIANT_UNKNOWN", "actual field identity"): ["v"],
    ("VARIANT_UNSUPPORTED", "field"): ["additional_data", "cid", "enc_links"],
}
"""By reason and the members of its evidence: the fields that it names in the cases of tampering."""


def verdicts() -> Iterator[Verdict]:
    """The verdicts on every case of tampering."""
    for name, variant in CASES:
        block = BLOCKS[name][1](variant)
        yield from (verify_block(block, None, profile, book()) for profile in ("strict", "compat"))
    for spell, _ in CLAIMS.values():
        yield verify_block(MADE["v2"].block, spell(MADE["v2"].cid), "strict", book())
    for members, *_ in V0_CASES.values():
        yield verify_block(dag_pb_block(json.dumps(V0_JSON | members, separators=(",", ":")).encode()))
    for members, _ in JSON_CASES.values():
        value = json.loads(to_json(MADE["v2"])) | members
        yield verify_json({name: member for name, member in value.items() if member is not ...})


def test_every_reason_of_a_tampered_entry_has_its_members_and_names_the_field_at_fault() -> None:
    found: dict[tuple[str, str], set[str | None]] = defaultdict(set)
    for verdict in verdicts():
        assert set(verdict.evidence) == set(verdict.reasons) <= reasons().keys()
        for code, evidence in verdict.evidence.items():
            found[code, " ".join(sorted(evidence))].add(evidence.get("field"))
    assert {key: sorted(fields, key=str) for key, fields in found.items()} == EVIDENCE


def test_a_float_in_its_shortest_form_is_told_with_the_width_that_is_wanted() -> None:
    told = {
        tuple(verdict.evidence["FLOAT_WIDTH"].items())
        for verdict in verdicts()
        if "FLOAT_WIDTH" in verdict.evidence
    }
    assert told == {(("expected", "64 bits"), ("actual", "shortest"))}
