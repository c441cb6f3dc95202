"""The registry of reason codes, `schemas/reasons.yaml`: why a record was refused, waits or contradicts."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, Literal

from strandline.contracts import resources

Outcome = Literal["rejected", "deferred", "manifest", "flag", "fork", "refused_call"]
Severity = Literal["error", "wait", "notice", "info", "alarm"]


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason code. Codes are stored in tables and never renamed."""

    code: str
    outcomes: tuple[Outcome, ...]
    """Where it stands: status of a quarantine row, a row of scope manifest, a flag of an accepted record, kind of
    an equivocation, a writer that stops."""
    severity: Severity
    dialects: tuple[str, ...]
    """The dialects that yield it, or `all`."""
    meaning: str
    advice: str
    """What the operator should do."""
    waits_for: str | None
    """Prefix of what a deferred row waits for."""
    replay: bool
    """True if a later version of the rules may judge otherwise."""


def reasons() -> Mapping[str, Reason]:
    """Return all reason codes that this version can produce, in the order of the registry."""
    return _registry()[1]


def rules_version() -> int:
    """Return the version of the rules, which rises whenever any verdict may change."""
    return _registry()[0]


@cache
def _registry() -> tuple[int, Mapping[str, Reason]]:
    document = resources.parsed(resources.text("schemas", "reasons.yaml"))
    every = [_reason(each) for each in document["codes"]]
    return int(document["rules_version"]), MappingProxyType({reason.code: reason for reason in every})


def _reason(entry: Mapping[str, Any]) -> Reason:
    return Reason(
        code=entry["code"],
        outcomes=tuple(entry["outcome"]),
        severity=entry["severity"],
        dialects=tuple(entry["dialects"]),
        meaning=entry["meaning"],
        advice=entry["advice"],
        waits_for=entry.get("waits_for"),
        replay=entry.get("replay", False),
    )
