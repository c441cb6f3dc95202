"""The accepted lines of one journal as a tree: positions, leaves, forked lines, trunk, pairs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from strandline.dialects.sdmp.codec import parse_line
from strandline.dialects.sdmp.types import Line, Pair
from strandline.dialects.sdmp.verify.chain import Link, link_of, positions, root_of


@dataclass(frozen=True, slots=True)
class Leaf:
    """An accepted line without an accepted successor."""

    n: int
    record_id: bytes


@dataclass(frozen=True, slots=True)
class Tree:
    """The accepted lines as a tree: `links` and `n` by record id, `children` by the number that they carry."""

    root: Link
    links: Mapping[bytes, Link]
    n: Mapping[bytes, int]
    children: Mapping[str, list[Link]]

    def leaves(self) -> tuple[Leaf, ...]:
        """Return the lines without a successor, by n descending, then record id ascending; the first is the tip."""
        ends = [Leaf(self.n[id_], id_) for id_, link in self.links.items() if link.hash not in self.children]
        return tuple(sorted(ends, key=lambda leaf: (-leaf.n, leaf.record_id)))

    def forked(self) -> list[Link]:
        """Return the lines with several successors, by n, then record id."""
        links = [link for link in self.links.values() if len(self.children.get(link.hash, ())) > 1]
        return sorted(links, key=lambda link: (self.n[link.record_id], link.record_id))

    def trunk(self) -> tuple[Link, ...]:
        """Return the path from line 1 to the tip: line n is at index n - 1."""
        by_hash = {link.hash: link for link in self.links.values()}
        path = [self.links[self.leaves()[0].record_id]]
        while (number := path[-1].number) is not None:
            path.append(by_hash[number])
        return tuple(reversed(path))

    def pairs(self) -> dict[Pair, tuple[int, bytes]]:
        """Return the pairs on the lines of all branches, each with its least (n, record id)."""
        found: dict[Pair, tuple[int, bytes]] = {}
        for id_, link in self.links.items():
            if (pair := link.line.pair) is not None:
                place = (self.n[id_], id_)
                found[pair] = min(place, found.get(pair, place))
        return found


def tree_of(node: str, accepted: Mapping[bytes, Line]) -> Tree:
    """Return the tree of the accepted lines of a journal; `accepted` maps record ids to lines and may omit line 1.

    Raises:
        ValueError: the predecessor of a line is missing, so this is not an accepted set of the node.
    """
    root = root_of(node)
    links = {root.record_id: root}
    for line in accepted.values():
        link = link_of(line)
        links[link.record_id] = link
    by_raw = positions(root, links.values())
    if len(by_raw) != len(links):
        raise ValueError("accepted lines must include the predecessor of each of them")
    children: dict[str, list[Link]] = {}
    for link in links.values():
        if link.number is not None:
            children.setdefault(link.number, []).append(link)
    return Tree(root, links, {id_: by_raw[link.raw] for id_, link in links.items()}, children)


def tree_of_links(linked: Mapping[bytes, tuple[Link, int]]) -> Tree | None:
    """Return the tree of stored lines, given with their n by record id; nothing is hashed again.

    None if they are not the lines of one journal: exactly one line 1, and of each other line the predecessor.
    """
    by_hash = {link.hash: n for link, n in linked.values()}
    roots = [link for link, n in linked.values() if link.number is None and n == 1]
    children: dict[str, list[Link]] = {}
    for link, n in linked.values():
        if link.number is not None:
            if by_hash.get(link.number) != n - 1:
                return None
            children.setdefault(link.number, []).append(link)
    followers = sum(map(len, children.values()))
    if len(roots) != 1 or len(by_hash) != len(linked) or followers + 1 != len(linked):
        return None
    links = {id_: link for id_, (link, _) in linked.items()}
    return Tree(roots[0], links, {id_: n for id_, (_, n) in linked.items()}, children)


def tree_of_lines(node: str, lines: Iterable[bytes]) -> Tree:
    """Return the tree of the accepted lines of a journal. Line 1 may be omitted.

    Raises:
        ValueError: as `tree_of`, or an element is not a line of the node's profile.
    """
    profile = root_of(node).line.profile
    accepted: dict[bytes, Line] = {}
    for raw in lines:
        line = parse_line(raw, profile)
        if isinstance(line, str):
            raise ValueError("accepted lines must be lines of the node's profile")
        accepted[raw] = line
    return tree_of(node, accepted)


def n_of(node: str, accepted: Mapping[bytes, Line]) -> dict[bytes, int]:
    """Return the position n of each accepted line and of line 1, by record id; n is 1 for line 1.

    Raises:
        ValueError: as `tree_of`.
    """
    return dict(tree_of(node, accepted).n)
