"""Figures of one verification after the other, without Spark: 14, 15."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Final

import coincurve

from bench.bench import Bench
from bench.logs import author, chain
from bench.measure import alternate, timed
from bench.results import Case, Side
from strandline.core.signatures import SigningKey, verify
from strandline.dialects.ipfslog.types import Entry, Variant
from strandline.dialects.ipfslog.verify import signed_digest_of, verify_block, verify_identity

CHECKED, BARE, BLOCKS = "signature check", "bare coincurve", "verify_block"
VARIANTS: Final[tuple[Variant, ...]] = ("v2", "core2")
ENTRIES: Final = 3000
BATCH: Final = 10_000
MESSAGE_BYTES: Final = 400
"""About what an entry signs."""

BATCHES: Final = 4
"""Batches that each process verifies in figure 14."""

Signed = tuple[bytes, bytes, bytes]
"""Key, signature, signed bytes."""


def measure(bench: Bench) -> None:
    """Measure the check on all cores and `verify_block` on one, each beside a bare loop over the same signatures."""
    if bench.wants(14):
        _check(bench)
    if bench.wants(15):
        _blocks(bench)


def _check(bench: Bench) -> None:
    processes = os.cpu_count() or 1
    key = SigningKey(bytes([7]) * 32)
    messages = [b"%0*d" % (MESSAGE_BYTES, number) for number in range(min(BATCH, bench.data.sizes.lines))]
    signed = [(key.public(compressed=False), key.sign(message), message) for message in messages]
    rates: dict[str, list[float]] = {CHECKED: [], BARE: []}
    with ProcessPoolExecutor(processes) as pool:
        for _ in range(bench.repetitions + 1):
            for name, work in ((CHECKED, _checked), (BARE, _bare)):
                # A batch of each process tells when it began and ended: making the rows is no part of it.
                times = list(pool.map(work, [signed] * processes * BATCHES))
                rates[name].append(processes * len(signed) * len(times) / sum(times))
    case = Case(
        f"{len(signed) * len(times):,} signatures in {processes} processes",
        Side(CHECKED, "1/s", tuple(rates[CHECKED][1:])),
        Side(BARE, "1/s", tuple(rates[BARE][1:])),
    )
    bench.keep(14, (case,), bench.repetitions, ())


def _checked(signed: Sequence[Signed]) -> float:
    began = time.perf_counter()
    if not all(verify(key, signature, message) for key, signature, message in signed):
        raise RuntimeError("the check refused a signature")
    return time.perf_counter() - began


def _bare(signed: Sequence[Signed]) -> float:
    key = coincurve.PublicKey(signed[0][0])
    began = time.perf_counter()
    if not all(key.verify(signature, message) for _, signature, message in signed):
        raise RuntimeError("the library refused a signature")
    return time.perf_counter() - began


def bare_checks(entries: Sequence[Entry]) -> Callable[[], None]:
    """Return a loop over the signatures of one author's entries that has the key parsed and each digest."""
    key = coincurve.PublicKey(bytes.fromhex(entries[0].key))
    signed = [(bytes.fromhex(entry.sig), signed_digest_of(entry)) for entry in entries]

    def checked() -> None:
        if not all(key.verify(signature, digest, hasher=None) for signature, digest in signed):
            raise RuntimeError("the library refused a signature")

    return checked


def _blocks(bench: Bench) -> None:
    cases = tuple(_blocks_case(bench, variant) for variant in VARIANTS)
    bench.keep(15, cases, bench.repetitions, ())


def _blocks_case(bench: Bench, variant: Variant) -> Case:
    entries = list(chain("/blocks", min(ENTRIES, bench.data.sizes.lines), variant))
    parsed = [(entry.block, entry.cid) for entry in entries]
    record = author(variant).record
    book = {record.digest: verify_identity(record)}

    def judged() -> None:
        for block, cid in parsed:
            if verify_block(block, cid, identities=book).status != "accepted":
                raise RuntimeError(f"an entry of {variant} is not accepted")

    bare = bare_checks(entries)
    contenders = {BLOCKS: lambda: timed(judged), BARE: lambda: timed(bare)}
    runs = alternate(contenders, bench.repetitions)
    sides = (
        Side(name, "1/s", tuple(len(entries) / run.seconds for run in each)) for name, each in runs.items()
    )
    return Case(f"{len(entries):,} entries of {variant}, one author", *sides)
