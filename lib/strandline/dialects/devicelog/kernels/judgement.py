"""From an entry in its one spelling to its columns, with verification of its signature."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

import pyarrow as pa

from strandline.core.verdict import encode_evidence, evidence_of, reasons_of
from strandline.dialects.devicelog.codec import parse_hmac_key, read_line
from strandline.dialects.devicelog.info import SSB_HMAC_KEY, SSB_PROFILE
from strandline.dialects.devicelog.types import Entry
from strandline.dialects.devicelog.verify import SSB_PROFILES, SsbProfile, references_of, signature_findings
from strandline.kernels.blocks import JUDGED_FIELDS
from strandline.kernels.reading import ReadOptions

ENTRY_FIELDS: Final = (
    pa.field("log", pa.binary()),
    pa.field("profile", pa.string()),
    pa.field("entry_kind", pa.string()),
    pa.field("seq", pa.int64()),
    pa.field("lamport", pa.int64()),
    pa.field("utc", pa.int64()),
    pa.field("prev", pa.binary()),
    pa.field("deps", pa.list_(pa.binary())),
    pa.field("body", pa.binary()),
    pa.field("body_size", pa.int32()),
    pa.field("body_hash", pa.binary()),
    pa.field("raw", pa.binary()),
    pa.field("sig", pa.binary()),
)
"""Columns of `device_log_entry` that the bytes of an entry give; its kind is `entry_kind` here."""

JUDGED: Final = pa.schema([*JUDGED_FIELDS, *ENTRY_FIELDS, pa.field("named", pa.list_(pa.binary()))])
"""The facts of an entry. `named` are the distinct entries that must be accepted before it, ascending."""

_SAME: Final = (
    "log",
    "profile",
    "seq",
    "lamport",
    "utc",
    "prev",
    "body",
    "body_size",
    "body_hash",
    "raw",
    "sig",
)


def judge(block: bytes, claims: Mapping[str, Any], options: ReadOptions) -> Mapping[str, Any]:  # noqa: ARG001
    """Return the columns of an entry, and the findings about its signature."""
    entry = parsed(block)
    findings = signature_findings(entry, hmac_key(options))
    facts = {
        "namespace": entry.namespace,
        "is_signed": True,
        "entry_kind": entry.kind,
        "deps": list(entry.deps),
        "named": list(references_of(entry, ssb_profile(options)).every),
        **{name: getattr(entry, name) for name in _SAME},
    }
    if findings:
        facts |= {"reasons": list(reasons_of(findings)), "evidence": encode_evidence(evidence_of(findings))}
    return facts


def parsed(block: bytes) -> Entry:
    """Return the entry of its one spelling.

    Raises:
        ValueError: it is none, so a table was changed by another program.
    """
    entry = read_line(block)
    if not isinstance(entry, Entry):
        raise ValueError(f"no entry: {', '.join(entry.reasons)}")
    return entry


def ssb_profile(options: ReadOptions) -> SsbProfile:
    """Return whether feeds need their beginning, as the lake was created."""
    chosen = options.lake_options[SSB_PROFILE]
    return next(profile for profile in SSB_PROFILES if profile == chosen)


def hmac_key(options: ReadOptions) -> bytes | None:
    """Return the network key of the lake, or None."""
    return _network_key(options.lake_options[SSB_HMAC_KEY])


@lru_cache(maxsize=4)
def _network_key(text: str) -> bytes | None:
    return parse_hmac_key(text) if text else None
