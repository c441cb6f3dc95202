"""The registry of reason codes, `schemas/reasons.yaml`: why a record is rejected, waits or is in conflict."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, Literal

from strandline.contracts import resources

FILE = "reasons.yaml"

Outcome = Literal["rejected", "deferred", "manifest", "flag", "fork", "verdict", "refused_call", "gc"]
Severity = Literal["error", "wait", "notice", "info", "alarm"]


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason code. Codes are stored in tables and never renamed."""

    code: str
    outcomes: tuple[Outcome, ...]
    """Uses of the code: status of a quarantine row, a row of scope manifest, a flag of an accepted record, kind of an
    equivocation, a verdict on the claim of an accepted record, a stopped writer, a hold or a reason of a
    collection."""
    severity: Severity
    dialects: tuple[str, ...]
    """The dialects that use it, or `all`."""
    meaning: str
    advice: str
    """What the operator should do."""
    waits_for: str | None
    """Prefix of what a deferred row waits for."""
    replay: bool
    """True if a later version of the rules may give another verdict."""


def reasons() -> Mapping[str, Reason]:
    """Return all reason codes that this version can produce, in the order of the registry."""
    return _registry()


def rules_version() -> int:
    """Return the version of the rules, which increases with every change that can change a verdict."""
    return int(_document()["rules_version"])


@cache
def _document() -> Mapping[str, Any]:
    document: Mapping[str, Any] = resources.parsed(resources.text("schemas", FILE))
    return document


@cache
def _registry() -> Mapping[str, Reason]:
    """Return the codes of Strandline, then further codes of registered dialects."""
    files = [root.joinpath(FILE) for root in resources.registered()]
    others = [resources.parsed(file.read_text(encoding="utf-8")) for file in files if file.is_file()]
    found: dict[str, Reason] = {}
    for document in (_document(), *others):
        for each in document["codes"]:
            found.setdefault(each["code"], _reason(each))
    return MappingProxyType(found)


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
