"""Figures of collections: 62 to 66."""

from __future__ import annotations

from pathlib import Path
from typing import Final
from uuid import UUID

from bench.bench import Bench
from bench.contexts import Parties, charge_rows, charges, genesis_rows
from bench.engine import AURA
from bench.facts import folder
from bench.measure import Run, alternate, seconds_case
from strandline.dialects.aura.verify import EMPTY, state_after

FACTS: Final = "aura_fact"
CONTEXTS: Final = 16
KEPT: Final = 10
"""A collection keeps one in so many charges."""

SETUP: Final = 3
"""Facts before the charges: two authorities and the genesis of a context."""

COLLECT, WHAT_IF, FULL = "gc", "gc --what-if", "reduce --full"
AFTER, BEFORE = "full reduction after", "full reduction before"
KNOWN, EMPTY_LAKE = "ingest beside pruned ids", "ingest into an empty lake"
AGAIN, FIRST = "ingest again", "first ingest"


def measure(bench: Bench) -> None:
    """Measure collections of charges, and what their ids cost later."""
    if bench.wants(62, 63, 64, 65):
        _contexts(bench)
    if bench.wants(66):
        _again(bench)


def _window(charged: int) -> int:
    """Return the window with which one in `KEPT` of so many charges of a context stays."""
    return 2 * charged // (5 * KEPT)


def _contexts(bench: Bench) -> None:
    engine, count = bench.engine, bench.data.sizes.lines
    each = count // CONTEXTS
    lake = _charged(bench, each)
    engine.reduce(lake)
    pruned: list[Path] = []

    def collected() -> Run:
        if pruned:
            engine.drop(pruned.pop())
        pruned.append(engine.copy(lake))
        return engine.collect(pruned[0], _window(each), least=CONTEXTS * each * 8 // KEPT)

    def guessed() -> Run:
        return engine.collect(lake, _window(each), least=CONTEXTS * each * 8 // KEPT, what_if=True)

    def full() -> Run:
        copy = engine.copy(lake)
        run = engine.reduce(copy, full=True).run
        engine.drop(copy)
        return run

    contenders = {FULL: full, COLLECT: collected} | ({WHAT_IF: guessed} if bench.wants(63) else {})
    runs = alternate(contenders, bench.large_repetitions)
    name = f"{CONTEXTS * each:,} charges in {CONTEXTS} contexts"
    for number, work in ((62, COLLECT), (63, WHAT_IF)):
        if bench.wants(number):
            case = seconds_case(name, (work, runs[work]), (FULL, runs[FULL]))
            bench.keep(number, (case,), bench.large_repetitions, ())
    if bench.wants(65):
        plans = {AFTER: lambda: engine.plan(pruned[0], AURA), BEFORE: lambda: engine.plan(lake, AURA)}
        planned = alternate(plans, bench.repetitions)
        case = seconds_case(name, (AFTER, planned[AFTER]), (BEFORE, planned[BEFORE]))
        bench.keep(65, (case,), bench.repetitions, ())
    if bench.wants(64):
        _beside_ids(bench, pruned[0], CONTEXTS * each)
    engine.drop(lake, *pruned)


def _charged(bench: Bench, each: int) -> Path:
    """Return a lake with contexts of so many charges each, and with the authorities that attest them."""
    lake = bench.engine.empty_lake()
    sender, receiver, _ = charges(0)
    authorities = folder(bench.data, "two-authorities", (sender, receiver))
    bench.engine.ingest(lake, (authorities,), new=2, of=AURA)
    state = state_after(EMPTY, sender)
    ids = (UUID(bytes=each.namespace.id) for each in (sender, receiver))
    parties = Parties(*ids, state.commitment, state.epoch)
    store = bench.engine.store(lake)
    schema, buckets = store.schema(FACTS), store.buckets
    rows = genesis_rows(store.spark, schema, buckets, CONTEXTS, parties).unionByName(
        charge_rows(store.spark, schema, buckets, CONTEXTS, range(each), parties)
    )
    store.merge_new(FACTS, rows, tuple(range(buckets)), {})
    return lake


def _signed(bench: Bench) -> tuple[Path, int]:
    """Return a folder of signed charges of one context, and how many there are."""
    count = bench.data.sizes.lines // 10
    return folder(bench.data, f"charges-{count}", charges(count)), count


def _beside_ids(bench: Bench, pruned: Path, ids: int) -> None:
    engine = bench.engine
    source, count = _signed(bench)

    def beside() -> Run:
        lake = engine.copy(pruned)
        # The authorities are there.
        run = engine.ingest(lake, (source,), new=count + SETUP - 2, of=AURA).run
        engine.drop(lake)
        return run

    runs = alternate(
        {KNOWN: beside, EMPTY_LAKE: lambda: _first(bench, source, count)}, bench.large_repetitions
    )
    name = f"{count:,} new charges, {ids * (KEPT - 1) // KEPT:,} pruned ids"
    case = seconds_case(name, (KNOWN, runs[KNOWN]), (EMPTY_LAKE, runs[EMPTY_LAKE]))
    bench.keep(64, (case,), bench.large_repetitions, ())


def _first(bench: Bench, source: Path, count: int) -> Run:
    lake = bench.engine.empty_lake()
    run = bench.engine.ingest(lake, (source,), new=count + SETUP, of=AURA).run
    bench.engine.drop(lake)
    return run


def _again(bench: Bench) -> None:
    engine = bench.engine
    source, count = _signed(bench)
    lake = engine.empty_lake()
    engine.ingest(lake, (source,), new=count + SETUP, of=AURA)
    engine.reduce(lake)
    engine.collect(lake, _window(count), least=count * 8 // KEPT)

    def again() -> Run:
        copy = engine.copy(lake)
        run = engine.ingest(copy, (source,), new=0, of=AURA).run
        engine.drop(copy)
        return run

    contenders = {AGAIN: again, FIRST: lambda: _first(bench, source, count)}
    runs = alternate(contenders, bench.large_repetitions)
    case = seconds_case(f"{count:,} charges", (AGAIN, runs[AGAIN]), (FIRST, runs[FIRST]))
    bench.keep(66, (case,), bench.large_repetitions, ())
    engine.drop(lake)
