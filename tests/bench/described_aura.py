"""The figures of Aura journals: 41 to 50."""

from __future__ import annotations

from typing import Final

from bench.described import Bar, Described

PUBLIC_JOIN: Final = 430.0
"""Seconds of the public implementation to join journals of 10,000 facts, measured elsewhere."""

PUBLIC_REDUCTION: Final = 1.0
"""Seconds of the public implementation to reduce `PUBLIC_REDUCED` facts in memory, measured elsewhere."""
PUBLIC_REDUCED: Final = 100_000

AURA: Final = {
    41: Described(
        "aura-tree",
        "a new key in the tree of 2,048 leaves",
        "the full tree",
        Bar(most=1 / 50),
        "One process. The public implementation computes 2,048 hashes where this one computes 12.",
    ),
    42: Described(
        "aura-admission",
        "admission of parsed operations against their parent states",
        "bare Ed25519 checks of the same signatures",
        Bar(most=2),
        "One process, authorities of at most 8 leaves. The bare loop has key, message and signature as bytes.",
    ),
    43: Described(
        "aura-lines",
        "lines of JSON to verdicts",
        "bare Ed25519 checks of the same signatures",
        Bar(most=4),
        "The operations and the bare loop of figure 42.",
    ),
    44: Described(
        "aura-growth",
        "admission of twice the operations of one chain, in random order",
        "admission of the operations",
        Bar(most=2.5),
        "One process.",
    ),
    45: Described(
        "aura-columns",
        "reduction of authorities by their stored columns",
        "admission of the same facts",
        Bar(most=1 / 20),
        "One process, the operations of figure 42.",
    ),
    46: Described(
        "aura-tip",
        "reduction of 10 new operations from the stored state",
        "reduction of the whole chain by its columns",
        Bar(most=1 / 20),
        "One process.",
    ),
    47: Described(
        "aura-union",
        "union of two journals that share half of their facts",
        "comparing their ids pairwise",
        Bar(most=1 / 100),
        "One process. The other side looks for each id of one journal in the list of the ids of the other.",
    ),
    48: Described(
        "aura-public",
        "union and reduction of facts",
        "the times that the public implementation is known to need",
        Bar(),
        "The lake has a journal; another one that shares half of its facts is ingested, verified, and reduced. The "
        f"public times were measured elsewhere: {PUBLIC_JOIN:g} s to join journals of 10,000 facts at its newest "
        f"state, without any verification, and {PUBLIC_REDUCTION:g} s to reduce {PUBLIC_REDUCED:,} facts in memory, "
        "without the tree. The second time is scaled to our number of facts.",
    ),
    49: Described(
        "aura-lake-growth",
        "ingest and reduce of twice the authorities of 10 operations",
        "ingest and reduce of the authorities",
        Bar(most=2.5),
        "Lines of JSON into lakes whose tables are there and empty.",
    ),
    50: Described(
        "aura-memory",
        "peak memory of the largest Python worker, ingest of one authority",
        "4 GiB for a million operations, as much less as there are fewer",
        Bar(most=1),
        "Resident memory as in figure 12. One task holds the operations of an authority; what each worker takes "
        "without any is part of the figure.",
    ),
}
"""What is measured of Aura journals, by number."""
