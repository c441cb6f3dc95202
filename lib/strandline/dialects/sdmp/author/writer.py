"""The writer of local journals: the lines of one commit, and when it must not write."""

from collections.abc import Container, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal, TypeAlias

from strandline.dialects.sdmp.author.lines import append
from strandline.dialects.sdmp.types import Pair
from strandline.dialects.sdmp.verify import Tree

StopCode: TypeAlias = Literal["OWN_JOURNAL_BEHIND", "OWN_JOURNAL_FORKED"]

MAX_LINES_PER_COMMIT: Final = 250_000
"""The maximum number of lines that one commit adds to one journal; it bounds the memory of the writer."""


@dataclass(frozen=True, slots=True)
class WriterDecision:
    """Whether lines may be added to the journal of a local node. `codes`, sorted, are the reasons against it."""

    node: str
    codes: tuple[StopCode, ...]
    forced: bool

    @property
    def writes(self) -> bool:
        """True if there is no reason against it, or the operator forced the writer in this run."""
        return self.forced or not self.codes


def decide(
    node: str,
    *,
    leaf_count: int,
    quarantined: Iterable[bytes],
    stored: Container[bytes],
    forced: bool = False,
) -> WriterDecision:
    """Return whether the writer of a local node continues. Every run decides this, with or without pending pairs.

    `quarantined` are the record ids of the node's quarantine rows that are deferred or have `OWN_LINE_NOT_HELD`;
    `stored` are the ids of its accepted lines. The writer stops with
    - `OWN_JOURNAL_FORKED` if the journal has several leaves;
    - `OWN_JOURNAL_BEHIND` if a quarantined line is not stored: the lake is an old backup or the line is forged, and
      writing could fork the journal. Once the line is stored, in whatever way, the writer continues.
    `forced` continues from the tip of the trunk; the codes stay the same.
    """
    codes: list[StopCode] = []
    if any(record_id not in stored for record_id in quarantined):
        codes.append("OWN_JOURNAL_BEHIND")
    if leaf_count > 1:
        codes.append("OWN_JOURNAL_FORKED")
    return WriterDecision(node, tuple(codes), forced)


def next_commit(journal: Tree, pairs: Iterable[Pair], limit: int = MAX_LINES_PER_COMMIT) -> tuple[bytes, ...]:
    """Return the lines of one commit: one for each of the first `limit` pairs, after the tip of the trunk.

    In a journal without lines, they follow line 1. An empty result means that nothing is left to write. The tip was
    read before, so the commit must fail if the journal has grown since.

    Raises:
        ValueError: a pair does not consist of ids of the node's profile.
    """
    tip = journal.trunk()[-1]
    return tuple(append(tip.raw, islice(pairs, limit), tip.line.profile))
