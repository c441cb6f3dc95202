"""Lines as links of a chain: each names its predecessor by hash; positions count from line 1."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from strandline.dialects.sdmp.codec import line_hash, profile_of
from strandline.dialects.sdmp.types import Line


@dataclass(frozen=True, slots=True)
class Link:
    """A line with its digests, computed once. Its successors carry `hash` as their number."""

    line: Line
    record_id: bytes
    hash: str

    @property
    def raw(self) -> bytes:
        """The bytes of the line."""
        return self.line.raw

    @property
    def number(self) -> str | None:
        """The hash of the predecessor; None for line 1."""
        return self.line.number


def link_of(line: Line) -> Link:
    """Return the line with its digests."""
    digest = hashlib.sha256(line.raw)
    number = digest.hexdigest() if line.profile == "0.9" else line_hash(line.raw, line.profile)
    return Link(line, digest.digest(), number)


def root_of(node: str) -> Link:
    """Return line 1 of the node's journal.

    Raises:
        ValueError: `node` does not have the id form of a profile.
    """
    profile = profile_of(node)
    if profile is None:
        raise ValueError("node must be a fingerprint of one of the profiles")
    return link_of(Line(profile, node.encode("ascii"), None, None, None))


def positions(root: Link, links: Iterable[Link]) -> dict[bytes, int]:
    """Return the position n of `root` and of each link that is connected to it, by the bytes of the line.

    A link is connected if its predecessor, the line whose hash is its number, is `root` or connected. The order and
    repetition of `links` do not matter. Work is linear in the number of links for every shape of the tree.
    """
    successors: dict[str, dict[bytes, Link]] = {}
    for link in links:
        if link.number is not None:
            successors.setdefault(link.number, {})[link.raw] = link
    n = {root.raw: 1}
    reached = [root]
    while reached:
        before = reached.pop()
        # Removed, so that each successor is visited once.
        for link in successors.pop(before.hash, {}).values():
            n[link.raw] = n[before.raw] + 1
            reached.append(link)
    return n
