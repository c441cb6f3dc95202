"""Verification of entries: signatures, references, admission and forks, as pure functions."""

from strandline.core.judgement import Counts
from strandline.dialects.devicelog.verify.forks import FORK_KIND, fork, fork_members, forks
from strandline.dialects.devicelog.verify.judgement import (
    HeldEntries,
    judge,
    judge_documents,
)
from strandline.dialects.devicelog.verify.references import (
    NAMED,
    SSB_PROFILES,
    References,
    Referent,
    SsbProfile,
    deferred,
    judge_references,
    reference_findings,
    references_of,
    referent,
)
from strandline.dialects.devicelog.verify.signatures import signature_findings, signed_message

__all__ = [
    "FORK_KIND",
    "NAMED",
    "SSB_PROFILES",
    "Counts",
    "HeldEntries",
    "References",
    "Referent",
    "SsbProfile",
    "deferred",
    "fork",
    "fork_members",
    "forks",
    "judge",
    "judge_documents",
    "judge_references",
    "reference_findings",
    "references_of",
    "referent",
    "signature_findings",
    "signed_message",
]
