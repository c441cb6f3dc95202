"""The writer of own journals: what one commit adds, and when it must not add anything."""

from collections.abc import Container, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal, TypeAlias

from strandline.dialects.sdmp.author.lines import append
from strandline.dialects.sdmp.types import Pair
from strandline.dialects.sdmp.verify import Tree

StopCode: TypeAlias = Literal["OWN_JOURNAL_BEHIND", "OWN_JOURNAL_FORKED"]

MAX_LINES_PER_COMMIT: Final = 250_000
"""Lines that one commit adds to one journal: what bounds the memory of its writer."""


@dataclass(frozen=True, slots=True)
class WriterDecision:
    """Whether the journal of an own node may be written on. `codes`, ascending, say why not."""

    node: str
    codes: tuple[StopCode, ...]
    forced: bool

    @property
    def writes(self) -> bool:
        """True if nothing speaks against it, or the operator said to go on in this run."""
        return self.forced or not self.codes


def decide(
    node: str, *, leaf_count: int, shown: Iterable[bytes], held: Container[bytes], forced: bool = False
) -> WriterDecision:
    """Return whether the writer of an own node goes on. Asked in every run, whether anything is pending or not.

    `shown` are the record ids of the node's rows in quarantine that are deferred or have `OWN_LINE_NOT_HELD`,
    `held` those of its accepted lines. It stops with
    - `OWN_JOURNAL_FORKED`, when the journal has several leaves;
    - `OWN_JOURNAL_BEHIND`, while a shown line is not held: the lake is an old backup, or the line is forged, and
      writing on might fork the journal. A line that is held since, by whatever way, is resolved.
    `forced` goes on from the tip of the trunk; the codes stay what they are.
    """
    codes: list[StopCode] = []
    if any(record_id not in held for record_id in shown):
        codes.append("OWN_JOURNAL_BEHIND")
    if leaf_count > 1:
        codes.append("OWN_JOURNAL_FORKED")
    return WriterDecision(node, tuple(codes), forced)


def next_commit(journal: Tree, pairs: Iterable[Pair], limit: int = MAX_LINES_PER_COMMIT) -> tuple[bytes, ...]:
    """Return the lines that one commit adds: those of the first `limit` pairs, continuing the tip of the trunk.

    A journal without a line continues its fingerprint. None means that nothing is left to write. The tip was
    read, so the commit must fail if the journal grew since.

    Raises:
        ValueError: a pair is not of ids of the node's profile.
    """
    tip = journal.trunk()[-1]
    return tuple(append(tip.raw, islice(pairs, limit), tip.line.profile))
