"""The local nodes of one run and the operator's options for them."""

from collections.abc import Mapping
from dataclasses import dataclass

from strandline.dialects.sdmp.author.writer import MAX_LINES_PER_COMMIT
from strandline.dialects.sdmp.types import LocalNode


@dataclass(frozen=True, slots=True)
class LocalNodes:
    """Local nodes by fingerprint, with the options of this run.

    For nodes in `restore`, lines that are not stored are judged as those of any other node. For nodes in `force`, the
    writer continues where it would stop. `limit` is the number of lines per node and commit.
    """

    nodes: Mapping[str, LocalNode]
    restore: frozenset[str] = frozenset()
    force: frozenset[str] = frozenset()
    limit: int = MAX_LINES_PER_COMMIT

    @property
    def not_restored(self) -> tuple[str, ...]:
        """The nodes of which only stored lines are accepted (check 9), sorted."""
        return tuple(sorted(node for node in self.nodes if node not in self.restore))
