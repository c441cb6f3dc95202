"""The local nodes of one run: their connections, which to restore, which to write although their writer stopped."""

from collections.abc import Mapping
from dataclasses import dataclass

from strandline.dialects.sdmp.author.writer import MAX_LINES_PER_COMMIT
from strandline.dialects.sdmp.types import OwnNode


@dataclass(frozen=True, slots=True)
class LocalNodes:
    """Own nodes by fingerprint. Of those in `restore` lines that are not held are judged as those of any other node;
    on the journals of those in `force` the writer goes on where it would stop. `limit` lines a node and commit.
    """

    nodes: Mapping[str, OwnNode]
    restore: frozenset[str] = frozenset()
    force: frozenset[str] = frozenset()
    limit: int = MAX_LINES_PER_COMMIT

    @property
    def guarded(self) -> tuple[str, ...]:
        """The nodes of which no line comes in that is not held, ascending (check 9)."""
        return tuple(sorted(node for node in self.nodes if node not in self.restore))
