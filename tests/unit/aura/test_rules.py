"""What a fact breaks by itself, and what an operation breaks against its parent: every named attack has its codes."""

import pytest

from strandline.core.verdict import encode_evidence
from strandline.dialects.aura.verify import admit, rule_findings, rules
from support.aura_attacks import FOLLOWING, GOOD, RULES, snapshot
from support.aura_cases import U, facts, first_context, other_authority, second_context


def reasons(findings):
    return sorted({finding.reason for finding in findings})


@pytest.mark.parametrize("name", RULES)
def test_a_fact_that_breaks_rules_is_rejected_by_all_of_them(name):
    make, expected = RULES[name]
    fact = make()
    assert reasons(rule_findings(fact)) == expected.split()
    verdict = admit([fact, *facts().values()]).verdicts[fact.fact_id]
    assert (verdict.status, list(verdict.reasons)) == ("rejected", expected.split())
    assert len(encode_evidence(verdict.evidence)) < 2_000


@pytest.mark.parametrize("name", GOOD)
def test_what_is_near_a_rule_does_not_break_it(name):
    assert rule_findings(GOOD[name]()) == []


def test_the_facts_of_the_vectors_break_no_rule():
    for fact in (*facts().values(), *second_context().values(), other_authority()):
        assert rule_findings(fact) == []
    # Nobody attests these yet.
    for fact in first_context().values():
        assert reasons(rule_findings(fact)) == (
            [] if fact.variant == "ContextGenesis" else ["ATTEST_MISSING"]
        )


def test_a_snapshot_supersedes_so_many_facts_and_no_more(monkeypatch):
    assert rules.MAX_SUPERSEDED == 15_000
    monkeypatch.setattr(rules, "MAX_SUPERSEDED", 3)
    assert rule_findings(snapshot(U, 3)) == []
    assert reasons(rule_findings(snapshot(U, 4))) == ["SNAPSHOT_TOO_LARGE"]


@pytest.mark.parametrize("name", FOLLOWING)
def test_an_operation_is_judged_by_its_parent_state(name):
    make, expected = FOLLOWING[name]
    fact = make()
    verdict = admit([*facts().values(), fact]).verdicts[fact.fact_id]
    assert (verdict.status, list(verdict.reasons)) == (
        "rejected" if expected else "accepted", expected.split()
    )  # fmt: skip
    assert list(verdict.evidence) == expected.split()


def test_the_evidence_of_a_forged_signature_has_what_was_signed():
    fact = FOLLOWING["signed by another key"][0]()
    evidence = admit([*facts().values(), fact]).verdicts[fact.fact_id].evidence["SIGNATURE_INVALID"]
    assert set(evidence) == {"group_key", "message"}
    assert all(len(text) == 64 for text in evidence.values())
