"""The figures of device logs: 51 to 57."""

from __future__ import annotations

from typing import Final

from bench.described import Bar, Described

DEVICELOG: Final = {
    51: Described(
        "device-entries",
        "lines of device logs to verdicts, entries a second",
        "bare libsodium verification of the same signatures",
        Bar(least=0.5),
        "One process, the median of five. The bare loop has key, id and signature as bytes.",
    ),
    52: Described(
        "device-messages",
        "lines of Scuttlebutt messages to verdicts, messages a second",
        "bare libsodium verification of the same signatures",
        Bar(least=0.15),
        "One process, the median of five. Messages of a made-up feed, posts of 40 to 400 letters with mentions.",
    ),
    53: Described(
        "device-news",
        "rows of 100 messages into the last 1 % of a group, from its stored rows",
        "rows of all of its entries",
        Bar(most=0.2),
        "One process, batches of Arrow in and out, no Delta. The view is hashed from the first new message on.",
    ),
    54: Described(
        "device-reduce",
        "`reduce` of 100 messages into the last 1 % of a large group",
        "`reduce --full` of the same lake",
        Bar(most=0.6),
        "`--full` runs where nothing new is left. Without session start.",
    ),
    55: Described(
        "device-growth",
        "rows of twice the entries of a group",
        "rows of the entries",
        Bar(most=2.5),
        "One process, batches of Arrow in and out, all entries of a group of 10 devices.",
    ),
    56: Described(
        "device-known",
        "ingest of known entries, which verifies no signature",
        "their first ingest",
        Bar(most=0.5),
        "The files of figure 54 again, into the lake that has them. The run must report 0 verified signatures.",
    ),
    57: Described(
        "device-memory",
        "peak memory of the largest Python worker, the first reduction of figure 54",
        "2 GiB for a million entries",
        Bar(most=1),
        "Resident memory as in figure 12. One task holds the headers of a group.",
    ),
}  # fmt: skip
"""What is measured of device logs, by number."""
