"""Writing journal lines: each starts with the hash of the line before it."""

from collections.abc import Iterable, Iterator

from strandline.dialects.sdmp.codec import is_id, line_hash, parse_line
from strandline.dialects.sdmp.types import Profile

SYNTHETIC_AUTHORS = 7
SYNTHETIC_STRIDE = 10**9


def append(tip: bytes, pairs: Iterable[tuple[str, str]], profile: Profile = "0.9") -> Iterator[bytes]:
    """Yield the lines that follow `tip`, one per (author, resource), in the order given.

    Raises:
        ValueError: `tip` is no line, or a pair is not of ids, of the profile.
    """
    if isinstance(parse_line(tip, profile), str):
        raise ValueError(f"tip must be a line of profile {profile}")
    for author, resource in pairs:
        if not (is_id(author, profile) and is_id(resource, profile)):
            raise ValueError(f"author and resource must be ids of profile {profile}")
        tip = f"{line_hash(tip, profile)}@{author}/{resource}".encode("ascii")
        yield tip


def synthetic_id(kind: str, i: int, profile: Profile = "0.9") -> str:
    """Return id(kind, i) = H(ASCII `strandline/<kind>/<i>`): a made-up id that anyone can make again."""
    return line_hash(f"strandline/{kind}/{i}".encode("ascii"), profile)


def synthetic(i: int, n: int, profile: Profile = "0.9") -> Iterator[bytes]:
    """Yield the n lines of the made-up journal J(i, n), n >= 1.

    Line 1 is id(node, i); line k has author id(author, k mod 7) and resource id(resource, i * 10^9 + k).
    """
    first = synthetic_id("node", i, profile).encode("ascii")
    yield first
    authors = [synthetic_id("author", a, profile) for a in range(SYNTHETIC_AUTHORS)]
    yield from append(
        first,
        (
            (authors[k % SYNTHETIC_AUTHORS], synthetic_id("resource", i * SYNTHETIC_STRIDE + k, profile))
            for k in range(2, n + 1)
        ),
        profile,
    )
