"""Own nodes as the pipelines take them."""

from collections.abc import Iterable, Mapping

from strandline.dialects.sdmp.author import LocalNodes
from strandline.dialects.sdmp.types import OwnNode


def own_run(
    nodes: Mapping[str, OwnNode] | Iterable[OwnNode],
    *,
    restore: Iterable[str] = (),
    force: Iterable[str] = (),
    limit: int = 250_000,
):
    """What the options of a command say of own nodes; `limit` lines a node and commit."""
    from strandline.dialect_api.journals import JournalOptions
    from strandline.dialects import journal_writer_of

    own = nodes if isinstance(nodes, Mapping) else {node.node: node for node in nodes}
    found = journal_writer_of("sdmp")
    assert found is not None
    return JournalOptions(found, LocalNodes(own, frozenset(restore), frozenset(force), limit))
