"""The figures of collections: 62 to 66."""

from __future__ import annotations

from typing import Final

from bench.described import Bar, Described

COLLECTIONS: Final = {
    62: Described(
        "gc",
        "`gc` that prunes 90 % of the charges of 16 contexts",
        "`reduce --full` of the same lake",
        Bar(most=5),
        "Both with their writes, each on a copy of one reduced lake.",
    ),
    63: Described(
        "gc-what-if",
        "`gc --what-if` on the same lake",
        "`reduce --full`",
        Bar(most=4),
        "Both plan and prove; nothing is deleted.",
    ),
    64: Described(
        "gc-known-ids",
        "ingest of new charges into the lake with the pruned ids",
        "their ingest into an empty lake",
        Bar(most=1.5),
        "The charges are signed, in a context of their own.",
    ),
    65: Described(
        "gc-reduction",
        "full reduction after 90 % of the charges went",
        "full reduction before",
        Bar(most=1 / 1.5),
        "Plans to rows and state hash, nothing written.",
    ),
    66: Described(
        "gc-again",
        "ingest of charges again, of which 90 % were pruned",
        "their first ingest",
        Bar(most=0.5),
        "The same file of signed charges of one context.",
    ),
}
"""What is measured of collections, by number."""
