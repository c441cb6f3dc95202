"""Verification of facts: rules, signatures, states and admission, as pure functions."""

from strandline.dialects.aura.verify.operations import judge_op, verify_attested_op
from strandline.dialects.aura.verify.rules import rule_findings
from strandline.dialects.aura.verify.states import EMPTY, State, apply_op, check_attested_op

__all__ = [
    "EMPTY",
    "State",
    "apply_op",
    "check_attested_op",
    "judge_op",
    "rule_findings",
    "verify_attested_op",
]
