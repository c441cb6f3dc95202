"""Verdicts on facts, and the names of what a deferred fact waits for."""

from collections.abc import Iterable
from typing import Final

from strandline.core.judgement import Verdict
from strandline.core.verdict import Finding
from strandline.dialects.aura.types import Namespace

ACCEPTED: Final = Verdict("accepted")


def rejected(findings: Iterable[Finding]) -> Verdict:
    """Return the verdict on a fact with these faults."""
    return Verdict("rejected", tuple(findings))


def deferred(reason: str, waits_for: Iterable[str], named: Iterable[str] = ()) -> Verdict:
    """Return the verdict on a fact that waits for other facts or for a pin.

    The evidence has what the fact needs: `named`, known or not, if given. So it is the same whatever came before.
    """
    names = tuple(sorted(set(waits_for)))
    needs = first_named(named) or first_named(names)
    return Verdict("deferred", (Finding(reason, {"needs": needs}),), names)


_NAMED: Final = 16
"""How many of the things that a fact needs are in its evidence."""


def first_named(names: Iterable[str]) -> tuple[str, ...]:
    """Return the things that a fact names in the form for evidence: ascending, at most `_NAMED`."""
    return tuple(sorted(set(names))[:_NAMED])


def pin_of(namespace: Namespace) -> str:
    """Return what an unanchored genesis waits for: a pin, or an accepted genesis."""
    return f"pin:{namespace.text}"


def state_of(authority: bytes, commitment: bytes) -> str:
    """Return what a fact waits for that names an unknown state of an authority."""
    return f"state:{Namespace('authority', authority).text}#{commitment.hex()}"


def genesis_of(context: Namespace) -> str:
    """Return what a fact of a context without a genesis waits for."""
    return f"state:{context.text}#genesis"
