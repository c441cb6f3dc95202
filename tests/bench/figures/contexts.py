"""Figures of contexts: 58 to 61."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pyspark.sql import functions as F

from bench.bench import Bench
from bench.contexts import charge_rows, charges, genesis_rows
from bench.engine import AURA, compute
from bench.measure import Run, alternate, seconds_case, timed
from strandline.core.ed25519 import verify_ed25519
from strandline.dialects.aura.codec import attest_message
from strandline.dialects.aura.types import Fact
from strandline.dialects.aura.verify import EMPTY, admit, state_after

FACTS: Final = "aura_fact"
NEWS: Final = 10
SIGNED: Final = 5_000
CONTEXTS: Final = 8
FULL, NEW = "full reduction", "reduction of the news"
TWICE, ONCE = "twice the charges", "the charges"
ADMISSION, BARE = "admission", "bare checks"
BY_HAND: Final = "parsing and a sum"
_CHARGE: Final = "src STRING, dst STRING, epoch DECIMAL(20,0), cost BIGINT, nonce DECIMAL(20,0)"
_SHAPE: Final = f"Relational STRUCT<FlowCharge: STRUCT<{_CHARGE}>>"


def measure(bench: Bench) -> None:
    """Measure plans of large contexts, and the admission of charges."""
    if bench.wants(61):
        _admission(bench)
    if bench.wants(58, 59):
        _large(bench)
    if bench.wants(60):
        _growth(bench)


def _lake(bench: Bench, contexts: int, charged: int) -> Path:
    """Return a lake with contexts that have so many charges together, not reduced."""
    lake = bench.engine.empty_lake()
    store = bench.engine.store(lake)
    schema, buckets = store.schema(FACTS), store.buckets
    rows = genesis_rows(store.spark, schema, buckets, contexts).unionByName(
        charge_rows(store.spark, schema, buckets, contexts, range(charged // contexts))
    )
    store.merge_new(FACTS, rows, tuple(range(buckets)), {})
    return lake


def _large(bench: Bench) -> None:
    engine, count = bench.engine, bench.data.sizes.lines
    lake = _lake(bench, 1, count)

    def full() -> Run:
        return engine.plan(lake, AURA)

    def by_hand() -> Run:
        rows = engine.store(lake).read(FACTS).where("variant = 'FlowCharge'")
        charge = F.from_json("content_json", _SHAPE)["Relational"]["FlowCharge"]
        each = rows.select("namespace", "body_id", charge.alias("charge")).select(
            "namespace", "body_id", "charge.*"
        )
        budgets = each.groupBy("namespace", "src", "dst", "epoch")
        sums = budgets.agg(F.sum("cost"), F.count("cost"), F.max(F.struct("nonce", "body_id")))
        return timed(lambda: compute(sums))

    if bench.wants(58):
        runs = alternate({FULL: full, BY_HAND: by_hand}, bench.repetitions)
        case = seconds_case(f"{count:,} charges of one context", (FULL, runs[FULL]), (BY_HAND, runs[BY_HAND]))
        bench.keep(58, (case,), bench.repetitions, ())
    if bench.wants(59):
        engine.reduce(lake)
        store = engine.store(lake)
        before = store.version(FACTS)
        rows = charge_rows(store.spark, store.schema(FACTS), store.buckets, 1, range(count, count + NEWS))
        if store.merge_new(FACTS, rows, tuple(range(store.buckets)), {}).inserted != NEWS:
            raise RuntimeError("the news are not new")
        runs = alternate({NEW: lambda: engine.plan(lake, AURA, since=before), FULL: full}, bench.repetitions)
        case = seconds_case(f"{NEWS} charges into {count:,}", (NEW, runs[NEW]), (FULL, runs[FULL]))
        bench.keep(59, (case,), bench.repetitions, ())
    engine.drop(lake)


def _growth(bench: Bench) -> None:
    engine, count = bench.engine, bench.data.sizes.lines // 5
    both, one = (_lake(bench, CONTEXTS, each) for each in (2 * count, count))
    runs = alternate(
        {TWICE: lambda: engine.plan(both, AURA), ONCE: lambda: engine.plan(one, AURA)}, bench.repetitions
    )
    name = f"{2 * count:,} / {count:,} charges in {CONTEXTS} contexts"
    bench.keep(60, (seconds_case(name, (TWICE, runs[TWICE]), (ONCE, runs[ONCE])),), bench.repetitions, ())
    engine.drop(both, one)


def _admission(bench: Bench) -> None:
    count = min(SIGNED, bench.data.sizes.lines)
    sender, other, genesis, *facts = charges(count)
    key = state_after(EMPTY, sender).key.group_key
    signed = [_signed(fact, key) for fact in facts]

    def admitted() -> None:
        if any(
            verdict.status != "accepted"
            for verdict in admit(facts, (sender, other, genesis)).verdicts.values()
        ):
            raise RuntimeError("a charge is not accepted")

    def bare() -> None:
        if not all(verify_ed25519(*each) for each in signed):
            raise RuntimeError("a signature is not valid")

    runs = alternate({ADMISSION: lambda: timed(admitted), BARE: lambda: timed(bare)}, bench.repetitions)
    case = seconds_case(f"{count:,} charges of one context", (ADMISSION, runs[ADMISSION]), (BARE, runs[BARE]))
    bench.keep(61, (case,), bench.repetitions, ())


def _signed(fact: Fact, key: bytes) -> tuple[bytes, bytes, bytes]:
    [each] = fact.attest
    return key, attest_message(fact.body_id, each.authority, each.commitment, key), each.sig
