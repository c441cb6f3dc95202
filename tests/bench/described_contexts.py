"""The figures of Aura contexts: 58 to 61, 67 and 68."""

from __future__ import annotations

from typing import Final

from bench.described import Bar, Described

CONTEXTS: Final = {
    58: Described(
        "context-charges",
        "reduction of the charges of one context",
        "`from_json` and a sum by budget over the same rows",
        Bar(most=6),
        "Plans to rows and state hash, nothing written. The other side counts each row, known body or not.",
    ),
    59: Described(
        "context-news",
        "reduction of 10 new charges in a large context",
        "its full reduction",
        Bar(most=1 / 3),
        "Plans to rows and state hash, nothing written. The change data feed gives the news.",
    ),
    60: Described(
        "context-growth",
        "reduction of twice the charges in 8 contexts",
        "reduction of the charges",
        Bar(most=2.5),
        "Plans to rows and state hash, nothing written.",
    ),
    61: Described(
        "context-admission",
        "admission of parsed charges against the states that they name",
        "bare Ed25519 checks of the same signatures",
        Bar(most=2),
        "One process, one context of two authorities. The bare loop has key, message and signature as bytes.",
    ),
    67: Described(
        "context-lakes",
        "ingest and reduce of many contexts of 5 facts, facts a second",
        "the same of other contexts, facts a second",
        Bar(),
        "Signed facts as lines of JSON into an empty lake, to the reduced state, once each.",
    ),
    68: Described(
        "context-lake-news",
        "`reduce` of a charge in each of a few contexts of figure 67",
        "its `reduce --full`",
        Bar(),
        "A reduction reads and writes the contexts with news alone; the other side, all of them.",
    ),
}
"""What is measured of Aura contexts, by number."""
