"""Synthetic journals that everyone can reproduce, for tests, benchmarks and the demo."""

from collections.abc import Iterator
from typing import Final

from strandline.dialects.sdmp.author.lines import append
from strandline.dialects.sdmp.codec import line_hash
from strandline.dialects.sdmp.types import Profile

SYNTHETIC_AUTHORS: Final = 7
SYNTHETIC_STRIDE: Final = 10**9


def synthetic_id(kind: str, i: int, profile: Profile = "0.9") -> str:
    """Return id(kind, i) = H(ASCII `strandline/<kind>/<i>`)."""
    return line_hash(f"strandline/{kind}/{i}".encode("ascii"), profile)


def synthetic(i: int, n: int, profile: Profile = "0.9") -> Iterator[bytes]:
    """Yield the n lines of the synthetic journal J(i, n), n >= 1.

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
