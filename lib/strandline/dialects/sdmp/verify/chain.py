"""Lines as links: which line each one follows, and how far from line 1 the chain carries it."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from strandline.dialects.sdmp.codec import line_hash, profile_of
from strandline.dialects.sdmp.types import Line


@dataclass(frozen=True, slots=True)
class Link:
    """A line with its digests, computed once. `hash` is what its successors carry as their number."""

    line: Line
    record_id: bytes
    hash: str

    @property
    def raw(self) -> bytes:
        """The bytes of the line."""
        return self.line.raw

    @property
    def number(self) -> str | None:
        """The hash of the line that this one follows; None for line 1."""
        return self.line.number


def link_of(line: Line) -> Link:
    """Return the line with its digests."""
    digest = hashlib.sha256(line.raw)
    number = digest.hexdigest() if line.profile == "0.9" else line_hash(line.raw, line.profile)
    return Link(line, digest.digest(), number)


def root_of(node: str) -> Link:
    """Return line 1 of the node's journal.

    Raises:
        ValueError: `node` has the form of no profile.
    """
    profile = profile_of(node)
    if profile is None:
        raise ValueError("node must be a fingerprint of one of the profiles")
    return link_of(Line(profile, node.encode("ascii"), None, None, None))


def positions(root: Link, links: Iterable[Link]) -> dict[bytes, int]:
    """Return n of `root` and of each link that the chain carries from it, by the bytes of the line.

    The least set that holds `root`, and holds a link when it holds the line that its number names. The
    order and repetition of `links` do not matter. Work is linear in the links, whatever shape the tree has.
    """
    successors: dict[str, dict[bytes, Link]] = {}
    for link in links:
        if link.number is not None:
            successors.setdefault(link.number, {})[link.raw] = link
    n = {root.raw: 1}
    reached = [root]
    while reached:
        before = reached.pop()
        # Taken out, so that each is reached once.
        for link in successors.pop(before.hash, {}).values():
            n[link.raw] = n[before.raw] + 1
            reached.append(link)
    return n
