"""The figures of logs: 14 to 22, 39 and 40."""

from __future__ import annotations

from typing import Final

from bench.described import Bar, Described

LOGS: Final = {
    14: Described(
        "signature-check",
        "the check of a signature alone, signatures a second",
        "a bare `coincurve` loop on as many processes",
        Bar(least=0.7, aim=0.85),
        "Key, signature and signed bytes in, verdict out, on all cores. The bare loop holds the key parsed; the "
        "check tests its form, that of the signature and low S, and looks the key up.",
    ),
    15: Described(
        "verify-block",
        "`verify_block`, entries a second",
        "bare `coincurve` verification of the same signatures",
        Bar(least=0.4, aim=0.55),
        "One process, one author whose identity is verified before. The bare loop is given the digest that each "
        "entry signs and the one key parsed.",
    ),
    16: Described(
        "log-ingest",
        "verified ingest of logs into Delta, entries a second",
        "`join` of ipfs-log, entries a second",
        Bar(least=8, aim=15),
        "`ingest` of JSON lines into a lake whose tables are there and empty, end to end, and the time that a session "
        "takes to start. The library joins an eighth of the entries into an empty log in memory, in a new process of "
        "node; only its `join` is timed: neither reading nor parsing, nor the start of node. It checks signatures, not "
        "content addresses. Shown beside is what the start of a session, the commits and bare signatures on all cores "
        "leave possible, if all other work took no time. This rate over that of the library is the largest possible "
        "ratio.",
    ),
    17: Described(
        "log-heads",
        "heads of logs",
        "`groupBy(namespace, record_id).count()` over the same table",
        Bar(most=5, aim=3),
        "The rows are computed whole and thrown away: heads with what is missing and clocks that lie, one join.",
    ),
    18: Described(
        "log-values",
        "values of logs in their order, places and ties",
        "a plain sort of the same columns",
        Bar(most=2, aim=1.3),
        "The rows are computed whole and thrown away.",
    ),
    19: Described(
        "log-news",
        "`reduce` of 1 % news at the end of one long log",
        "`reduce --full` of the same lake",
        Bar(),
        "Both are ours: see figure 32. `--full` runs where nothing new is left. The time that the commits of the "
        "reduced tables take is shown beside.",
    ),
    20: Described(
        "log-growth",
        "ingest and reduce of twice the entries",
        "ingest and reduce of the entries",
        Bar(most=2.2, aim=2.0),
        "Logs of equal length, into lakes whose tables are there and empty.",
    ),
    21: Described(
        "log-shape",
        "`reduce` of one long log",
        "`reduce` of many logs with as many entries",
        Bar(most=2, aim=1.2),
        "The first reduction of rows that nobody signed: it looks at no block.",
    ),
    22: Described(
        "known-entries",
        "ingest of known entries",
        "their first ingest",
        Bar(most=0.5, aim=0.2),
        "The same files again, into the lake that has just taken them.",
    ),
    39: Described(
        "log-ingest-orbitdb",
        "verified ingest of logs into Delta, entries a second",
        "`join` of @orbitdb/core, entries a second",
        Bar(least=12, aim=22),
        "As figure 16. The library joins entries of its own variant, from blocks.",
    ),
    40: Described(
        "log-depth",
        "ingest of one long log",
        "ingest of many logs with as many entries",
        Bar(most=1.5, least=1 / 1.5),
        "`ingest` of JSON lines into lakes whose tables are there and empty.",
    ),
}
