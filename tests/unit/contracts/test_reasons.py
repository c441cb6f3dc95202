"""The registry of reason codes: well-formed, and the codes that this version can produce."""

import re
from pathlib import Path
from typing import get_args

import yaml

from strandline.contracts import resources
from strandline.contracts.load import contract
from strandline.contracts.reasons import Outcome, Severity, reasons, rules_version

LIB = Path(__file__).parents[3] / "lib"
EVERY = reasons()
PRODUCED = [
    "REMOVE_NOT_SENIOR",
    "REMOVE_CUTS_SEEN",
    "REMOVE_BY_REMOVED",
    "SCREW_FROM",
    "SCREW_BEFORE",
    "SCREW_AFTER",
    "SCREW_REWIND",
    "SCREW_NEEDLESS",
    "TRUNCATED",
    "CONTAINER_UNSUPPORTED",
    "CONTAINER_NESTED",
    "CONTAINER_DAMAGED",
    "BOMB",
    "PATH_REFUSED",
    "FILE_UNREADABLE",
    "MANIFEST_INVALID",
    "MANIFEST_FILE_MISSING",
    "MANIFEST_MISMATCH",
    "ROW_BREAKS_CONTRACT",
    "JSON_INVALID",
    "DEFERRED_LIMIT",
    "INTERNAL_ERROR",
    "LIBRARY_DISAGREEMENT",
    "FRAME_TOO_LARGE",
    "FRAME_TOO_MANY",
    "FRAME_SHAPE",
    "BAD_NODE",
    "FIRST_LINE_MALFORMED",
    "NOT_OWN_NODE",
    "BAD_AUTHOR",
    "BAD_RESOURCE",
    "MALFORMED_LINE",
    "FIRST_LINE_MISPLACED",
    "NON_CANONICAL_ID",
    "LINE_NUMBER_MISMATCH",
    "OWN_LINE_NOT_HELD",
    "PREDECESSOR_UNKNOWN",
    "OWN_JOURNAL_BEHIND",
    "OWN_JOURNAL_FORKED",
    "VERSION_VACUUMED",
    "TABLE_RECREATED",
    "SDMP_FORK",
    "FILE_TOO_LARGE",
    "LINE_TOO_LARGE",
    "CAR_MALFORMED",
    "CAR_TRUNCATED",
    "BLOCK_TOO_LARGE",
    "BASE64_MALFORMED",
    "NOT_AN_ENTRY",
    "CBOR_INVALID",
    "CBOR_NOT_CANONICAL",
    "NUMBER_OUT_OF_RANGE",
    "FLOAT_WIDTH",
    "CID_MALFORMED",
    "CID_UNSUPPORTED",
    "CID_NOT_CANONICAL",
    "HASH_MISMATCH",
    "ENTRY_ENCRYPTED",
    "VARIANT_UNSUPPORTED",
    "VARIANT_UNKNOWN",
    "FIELD_MISSING",
    "FIELD_UNKNOWN",
    "TYPE_INVALID",
    "ID_INVALID",
    "LOG_ID_MISMATCH",
    "PAYLOAD_NOT_JSON",
    "CLOCK_OUT_OF_RANGE",
    "CLOCK_ID_MISMATCH",
    "KEY_MALFORMED",
    "SIGNATURE_MALFORMED",
    "SIGNATURE_INVALID",
    "SIGNATURE_WEAK",
    "IDENTITY_TYPE_UNSUPPORTED",
    "IDENTITY_INVALID",
    "KEY_IDENTITY_MISMATCH",
    "IDENTITY_MISSING",
    "FLOAT_SHORT",
    "CLOCK_NEGATIVE",
    "SIGNATURE_FORM",
    "GO_ESCAPES",
    "KEY_FORM",
    "CLOCK_SATURATED",
    "DUPLICATE_LINK",
    "IPFSLOG_CLOCK_FORK",
    "NAMESPACE_MISMATCH",
    "INT_RANGE",
    "LIST_DUPLICATE",
    "OP_LAYER2",
    "FACT_TOO_LARGE",
    "LENGTH_INVALID",
    "TIME_RANGE_INVERTED",
    "CONTENT_NAMESPACE",
    "SNAPSHOT_UNBOUND",
    "SNAPSHOT_TOO_LARGE",
    "ATTEST_NOT_ALLOWED",
    "ATTEST_MISSING",
    "ATTESTOR_NOT_SELF",
    "ATTESTOR_NOT_MEMBER",
    "PARTY_NOT_MEMBER",
    "PARTY_SELF",
    "CONTEXT_MISMATCH",
    "CONTEXT_GENESIS_FORM",
    "OP_VERSION",
    "SUITE_UNSUPPORTED",
    "KEY_RECORD_INVALID",
    "GROUP_KEY_INVALID",
    "POLICY_NOT_NORMAL",
    "GENESIS_PARENT",
    "PARENT_ZERO",
    "GENESIS_PIN_MISMATCH",
    "EPOCH_MISMATCH",
    "SIGNERS_INSUFFICIENT",
    "SIGNERS_EXCESS",
    "ATTEST_SIGNATURE_INVALID",
    "LEAF_ID_NOT_NEXT",
    "LEAF_UNKNOWN",
    "LEAF_KEY_DUPLICATE",
    "LEAF_LIMIT",
    "NODE_UNKNOWN",
    "NODE_NOT_ROOT",
    "POLICY_NOT_STRICTER",
    "EPOCH_OVERFLOW",
    "EPOCH_NOT_SUCCESSOR",
    "CHARGE_CHAIN",
    "CHARGE_EPOCH",
    "BINDING_TYPE_RESERVED",
    "GENESIS_UNPINNED",
    "PARENT_MISSING",
    "AUTHORITY_STATE_MISSING",
    "CONTEXT_GENESIS_MISSING",
    "AURA_OP_FORK",
    "KEY_WEAK",
    "BODY_TOO_LARGE",
    "DEPS_TOO_MANY",
    "DEPS_ORDER",
    "KIND_UNKNOWN",
    "KEY_SHAPE",
    "BODY_FORMAT",
    "ID_MISMATCH",
    "PREV_OTHER_LOG",
    "SEQ_GAP",
    "LAMPORT_MISMATCH",
    "NOT_GRANTED",
    "LAST_MISMATCH",
    "PREV_MISSING",
    "DEP_MISSING",
    "LAST_MISSING",
    "DEVICELOG_FORK",
    "SSB_NOT_OBJECT",
    "SSB_FIELD_ORDER",
    "SSB_PREVIOUS",
    "SSB_AUTHOR",
    "SSB_SEQUENCE",
    "SSB_TIMESTAMP",
    "SSB_HASH",
    "SSB_CONTENT",
    "SSB_TYPE",
    "SSB_BOX",
    "SSB_SIGNATURE_FORM",
    "SSB_TOO_LARGE",
    "SSB_KEY_MISMATCH",
    "AURA_CONSENSUS_FORK",
    "AURA_CHECKPOINT_FORK",
    "AURA_COMMIT_FORK",
    "AURA_SNAPSHOT_FORK",
    "KIND_KEPT",
    "WINDOW",
    "RECEIPT_REFERENCE",
    "PENDING_CONSENSUS",
    "UNMET",
    "EPOCH_OPEN",
    "EPOCH_END",
    "EPOCH_START",
    "NOT_FINAL",
    "SIGNED_TEXT",
    "WALK_MODE",
    "STORE_KEEPS_ALL",
    "HEAD",
    "TAIL",
    "DOCUMENT_ROW",
    "BASE_MOVED",
    "CONTRACT_MOVED",
    "HELD",
    "NOTHING_TO_PRUNE",
    "SNAPSHOT_DAMAGED",
    "PROOF_FAILED",
    "READER_BEHIND",
    "NO_BASE",
    "ABOVE_BASE",
    "BELOW_SNAPSHOT",
]


def test_the_registry_holds_the_codes_of_what_is_built():
    assert sorted(EVERY) == sorted(PRODUCED)


def test_each_code_is_named_by_the_code_that_gives_it():
    source = "".join(path.read_text("utf-8") for path in (LIB / "strandline").rglob("*.py"))
    assert [code for code in EVERY if f'"{code}"' not in source] == []


def test_no_code_comes_twice_in_the_file():
    codes = [entry["code"] for entry in yaml.safe_load(resources.text("schemas", "reasons.yaml"))["codes"]]
    assert len(codes) == len(set(codes)) == len(EVERY)


def test_the_file_has_no_member_that_nobody_reads():
    known = {"code", "outcome", "severity", "dialects", "meaning", "advice", "waits_for", "replay"}
    document = yaml.safe_load(resources.text("schemas", "reasons.yaml"))
    assert set(document) == {"rules_version", "codes"}
    assert all(set(entry) <= known for entry in document["codes"])


def test_the_rules_have_a_version():
    assert rules_version() >= 1


def test_each_code_is_well_formed_and_says_what_it_means_and_what_to_do():
    for code, reason in EVERY.items():
        assert code == reason.code
        assert re.fullmatch(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*", code), code
        assert set(reason.outcomes) <= set(get_args(Outcome)), code
        assert reason.outcomes, code
        assert reason.severity in get_args(Severity), code
        assert reason.dialects == ("all",) or set(reason.dialects) <= {
            "sdmp",
            "ipfslog",
            "aura",
            "devicelog",
        }, code
        for sentence in (reason.meaning, reason.advice):
            assert re.fullmatch(r"[A-Z].{30,}\.", sentence), code


def test_what_waits_says_for_what_and_nothing_else_does():
    waits = {code: reason.waits_for for code, reason in EVERY.items() if reason.waits_for}
    assert waits == {
        "PREDECESSOR_UNKNOWN": "line",
        "IDENTITY_MISSING": "identity",
        "INTERNAL_ERROR": "rules",
        "GENESIS_UNPINNED": "pin",
        "PARENT_MISSING": "state",
        "AUTHORITY_STATE_MISSING": "state",
        "CONTEXT_GENESIS_MISSING": "state",
        "PREV_MISSING": "record",
        "DEP_MISSING": "record",
        "LAST_MISSING": "record",
    }
    assert all(("deferred" in reason.outcomes) == (code in waits) for code, reason in EVERY.items())


def test_alarms_are_forks_manifests_own_journals_in_danger_and_our_own_faults():
    alarms = {code for code, reason in EVERY.items() if reason.severity == "alarm"}
    forks = {code for code, reason in EVERY.items() if "fork" in reason.outcomes}
    manifests = {code for code in EVERY if code.startswith("MANIFEST_")}
    of_contexts = {f"AURA_{each}_FORK" for each in ("CONSENSUS", "CHECKPOINT", "COMMIT", "SNAPSHOT")}
    assert forks == {"SDMP_FORK", "IPFSLOG_CLOCK_FORK", "AURA_OP_FORK", "DEVICELOG_FORK"} | of_contexts
    own = {code for code in EVERY if code.startswith("OWN_")}
    faults = {"INTERNAL_ERROR", "LIBRARY_DISAGREEMENT", "SNAPSHOT_DAMAGED", "PROOF_FAILED"}
    assert alarms == forks | manifests | own | faults


def test_later_rules_may_judge_again_what_was_our_limit_our_fault_or_unknown_to_us():
    replayed = {"DEFERRED_LIMIT", "INTERNAL_ERROR", "CID_UNSUPPORTED", "FIELD_UNKNOWN", "FLOAT_WIDTH"}
    replayed |= {
        "LIBRARY_DISAGREEMENT",
        "IDENTITY_TYPE_UNSUPPORTED",
        "VARIANT_UNKNOWN",
        "VARIANT_UNSUPPORTED",
        "OP_VERSION",
        "SUITE_UNSUPPORTED",
        "KIND_UNKNOWN",
    }
    assert {code for code, reason in EVERY.items() if reason.replay} == replayed


def test_flags_are_notices_unless_they_reject_too():
    flags = {code: reason for code, reason in EVERY.items() if "flag" in reason.outcomes}
    assert all((reason.severity == "notice") == (reason.outcomes == ("flag",)) for reason in flags.values())
    assert {code for code, reason in flags.items() if reason.severity == "error"} == {
        "CLOCK_ID_MISMATCH",
        "PAYLOAD_NOT_JSON",
        "SIGNATURE_WEAK",
    }


def test_the_contract_of_the_quarantine_tells_of_everything_that_a_row_can_wait_for():
    told = next(each.description for each in contract("quarantine").columns if each.name == "waits_for")
    waited = {each.waits_for for each in EVERY.values() if each.waits_for}
    assert {name for name in waited if f"{name}:<" not in told} == set()


def test_the_contract_of_forks_says_of_each_kind_who_is_named_and_where() -> None:
    told = {each.name: each.description for each in contract("equivocation").columns}
    kinds = [code for code, each in EVERY.items() if "fork" in each.outcomes]
    assert len(kinds) == 8
    assert [code for code in kinds if code not in told["key"] or code not in told["position"]] == []
