"""The accepted lines of one journal as a tree: leaves, forked lines, positions."""

from collections.abc import Mapping
from dataclasses import dataclass

from strandline.dialects.sdmp.types import Line
from strandline.dialects.sdmp.verify import Link, link_of, positions, root_of


@dataclass(frozen=True, slots=True)
class Leaf:
    """A line that no accepted line follows."""

    n: int
    record_id: bytes


@dataclass(frozen=True, slots=True)
class Tree:
    """The accepted lines as a tree; `children` by the number they carry, `n` by record id."""

    root: Link
    links: Mapping[bytes, Link]
    n: Mapping[bytes, int]
    children: Mapping[str, list[Link]]

    def leaves(self) -> tuple[Leaf, ...]:
        ends = [Leaf(self.n[id_], id_) for id_, link in self.links.items() if link.hash not in self.children]
        return tuple(sorted(ends, key=lambda leaf: (-leaf.n, leaf.record_id)))

    def forked(self) -> list[Link]:
        links = [link for link in self.links.values() if len(self.children.get(link.hash, ())) > 1]
        return sorted(links, key=lambda link: (self.n[link.record_id], link.record_id))


def tree_of(node: str, accepted: Mapping[bytes, Line]) -> Tree:
    root = root_of(node)
    links = {root.record_id: root}
    for line in accepted.values():
        link = link_of(line)
        links[link.record_id] = link
    by_raw = positions(root, links.values())
    if len(by_raw) != len(links):
        raise ValueError("accepted lines must hold the line before each of them")
    children: dict[str, list[Link]] = {}
    for link in links.values():
        if link.number is not None:
            children.setdefault(link.number, []).append(link)
    return Tree(root, links, {id_: by_raw[link.raw] for id_, link in links.items()}, children)


def n_of(node: str, accepted: Mapping[bytes, Line]) -> dict[bytes, int]:
    """Return n of each accepted line and of line 1, by record id: 1 for line 1, else that before it + 1.

    Raises:
        ValueError: a line's predecessor is missing, so they are no accepted set of this node.
    """
    return dict(tree_of(node, accepted).n)
