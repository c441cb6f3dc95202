"""Local nodes as the pipelines take them."""

from collections.abc import Iterable, Mapping

from strandline.dialects.sdmp.author import LocalNodes
from strandline.dialects.sdmp.types import LocalNode


def own_run(
    nodes: Mapping[str, LocalNode] | Iterable[LocalNode],
    *,
    restore: Iterable[str] = (),
    force: Iterable[str] = (),
    limit: int = 250_000,
) -> LocalNodes:
    """What the options of a command say of local nodes; `limit` lines a node and commit."""
    own = nodes if isinstance(nodes, Mapping) else {node.node: node for node in nodes}
    return LocalNodes(own, frozenset(restore), frozenset(force), limit)
