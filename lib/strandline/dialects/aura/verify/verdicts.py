"""Verdicts on facts, and what a deferred fact waits for."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from strandline.core.verdict import Finding, JsonValue, evidence_of, reasons_of
from strandline.dialects.aura.types import Namespace

Status: TypeAlias = Literal["accepted", "rejected", "deferred"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one fact. `waits_for` is ascending and empty unless deferred."""

    status: Status
    findings: tuple[Finding, ...] = ()
    waits_for: tuple[str, ...] = ()

    @property
    def reasons(self) -> tuple[str, ...]:
        """The distinct reasons, ascending."""
        return reasons_of(self.findings)

    @property
    def evidence(self) -> dict[str, JsonValue]:
        """The evidence by reason."""
        return evidence_of(self.findings)


ACCEPTED: Final = Verdict("accepted")


def rejected(findings: Iterable[Finding]) -> Verdict:
    """Return the verdict on a fact with these faults."""
    return Verdict("rejected", tuple(findings))


def deferred(reason: str, waits_for: Iterable[str], named: Iterable[str] = ()) -> Verdict:
    """Return the verdict on a fact that waits for other facts or for a pin.

    The evidence has what the fact needs: `named`, known or not, if given. So it is the same whatever came before.
    """
    names = tuple(sorted(set(waits_for)))
    needs = sorted(set(named)) or names
    return Verdict("deferred", (Finding(reason, {"needs": tuple(needs[:_NAMED])}),), names)


_NAMED: Final = 16
"""How many of the things that a fact needs are in its evidence."""


def pin_of(namespace: Namespace) -> str:
    """Return what an unanchored genesis waits for: a pin, or an accepted genesis."""
    return f"pin:{namespace.text}"


def state_of(authority: bytes, commitment: bytes) -> str:
    """Return what a fact waits for that names an unknown state of an authority."""
    return f"state:{Namespace('authority', authority).text}#{commitment.hex()}"


def genesis_of(context: Namespace) -> str:
    """Return what a fact of a context without a genesis waits for."""
    return f"state:{context.text}#genesis"
