"""Verification of entries, identities and manifests: pure functions of bytes, profile and known identities."""

from strandline.core.judgement import QuarantineRow
from strandline.dialects.ipfslog.verify.built_entries import BuiltEntry
from strandline.dialects.ipfslog.verify.checks import Checked, check_block, check_built
from strandline.dialects.ipfslog.verify.documents import (
    Element,
    Foreign,
    Refused,
    as_block,
    claimed_digest,
    read_element,
)
from strandline.dialects.ipfslog.verify.entries import (
    Verdict,
    entry_of,
    identity_findings,
    identity_invalid,
    identity_missing,
    verify_block,
    verify_json,
    without_identity_signatures,
)
from strandline.dialects.ipfslog.verify.identities import (
    fits_variant,
    verify_identity,
)
from strandline.dialects.ipfslog.verify.judgement import (
    AcceptedRecords,
    Counts,
    judge,
)
from strandline.dialects.ipfslog.verify.signature import signed_digest_of, signed_digest_of_block

__all__ = [
    "AcceptedRecords",
    "BuiltEntry",
    "Checked",
    "Counts",
    "Element",
    "Foreign",
    "QuarantineRow",
    "Refused",
    "Verdict",
    "as_block",
    "check_block",
    "check_built",
    "claimed_digest",
    "entry_of",
    "fits_variant",
    "identity_findings",
    "identity_invalid",
    "identity_missing",
    "judge",
    "read_element",
    "signed_digest_of",
    "signed_digest_of_block",
    "verify_block",
    "verify_identity",
    "verify_json",
    "without_identity_signatures",
]
