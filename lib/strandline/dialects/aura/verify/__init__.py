"""Verification of facts: rules, signatures, states and admission, as pure functions."""

from strandline.core.judgement import Counts, Verdict
from strandline.dialects.aura.verify.accepted import (
    AcceptedOp,
    OpSkeleton,
    PlacedOp,
    PrunedOps,
    UnreadOp,
    accepted_op,
    attested_of,
)
from strandline.dialects.aura.verify.admission import admit
from strandline.dialects.aura.verify.attestations import KnownState, KnownStates, judge_attested
from strandline.dialects.aura.verify.authorities import admit_operations, judge_operations
from strandline.dialects.aura.verify.checks import check_attested_op
from strandline.dialects.aura.verify.commitments import state_commitment, state_commitment_input
from strandline.dialects.aura.verify.judgement import (
    AcceptedFacts,
    judge,
)
from strandline.dialects.aura.verify.operations import signers_of
from strandline.dialects.aura.verify.rules import rule_findings
from strandline.dialects.aura.verify.states import (
    EMPTY,
    Draft,
    State,
    apply_op,
    committed,
    state_after,
)
from strandline.dialects.aura.verify.walk import Walk

__all__ = [
    "EMPTY",
    "AcceptedFacts",
    "AcceptedOp",
    "Counts",
    "Draft",
    "KnownState",
    "KnownStates",
    "OpSkeleton",
    "PlacedOp",
    "PrunedOps",
    "State",
    "UnreadOp",
    "Verdict",
    "Walk",
    "accepted_op",
    "admit",
    "admit_operations",
    "apply_op",
    "attested_of",
    "check_attested_op",
    "committed",
    "judge",
    "judge_attested",
    "judge_operations",
    "rule_findings",
    "signers_of",
    "state_after",
    "state_commitment",
    "state_commitment_input",
]
