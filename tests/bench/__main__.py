"""`python -m bench`: measures the figures and writes docs/bench/*.json and docs/performance.md from them."""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any

from bench.bench import Bench
from bench.catalogue import CATALOGUE
from bench.costs import measure as measure_costs
from bench.costs import write_costs
from bench.data import Data, cache_folder
from bench.engine import Engine
from bench.environment import environment, load_average
from bench.figures import GROUPS, Group
from bench.page import write_page
from bench.results import Case, Figure, write_figures
from bench.sizes import Sizes
from strandline.cli.invocation import Invocation, Options
from strandline.session import open_session

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def main() -> None:
    """Measure what is asked for; keep each group's figures as soon as they are there."""
    asked = _arguments()
    if asked.page:
        write_page(DOCS)
        return
    began = time.monotonic()
    # A stop from outside unwinds like an error: gigabytes of lakes must not stay behind.
    signal.signal(signal.SIGTERM, _stopped)
    sizes = Sizes.of(asked.scale)
    groups = [group for group in GROUPS if group.numbers & asked.only]
    data = Data.of(sizes, cache_folder())
    for group in groups:
        for each in (data, _warm(group, sizes)):
            each.many(group.chunks)
            if group.has_long:
                each.one()
    _say(began, f"input is in {data.folder}")
    folder = Path(tempfile.mkdtemp(prefix="strandline-bench-lakes-"))
    try:
        options = Options(settings=(f"spark.master={asked.master}", f"spark.driver_memory={asked.heap}"))
        settings = Invocation("bench", options).settings
        spark = open_session(settings, environ=os.environ, run_id="bench")
        where = environment(spark, settings)
        engine = Engine(spark, settings, folder)

        def keep(number: int, cases: tuple[Case, ...], repetitions: int, notes: tuple[str, ...]) -> None:
            how = _how(asked, sizes, repetitions)
            figure = Figure(number, cases, where, how, notes)
            write_figures(asked.out, [figure])
            ratios = ", ".join(f"{case.ratio:.3g} ({case.name})" for case in cases)
            _say(began, f"figure {number}, {CATALOGUE[number].slug}: {figure.verdict}, {ratios}")

        def forget(number: int, cases: tuple[Case, ...], repetitions: int, notes: tuple[str, ...]) -> None:
            _say(began, f"warm: figure {number}")

        for group in groups:
            wanted = group.numbers & asked.only
            group.measure(Bench(engine, _warm(group, sizes), wanted, 1, 1, forget))
            group.measure(Bench(engine, data, wanted, asked.repetitions, asked.large_repetitions, keep))
        if asked.costs:
            write_costs(asked.out, tuple(measure_costs(engine, data)), where)
            _say(began, "costs of commands")
        spark.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if asked.smoke:
        print(f"a smoke test: {asked.out} holds no figures to publish")
    elif asked.out == DOCS / "bench":
        write_page(DOCS)
    _say(began, "done")


def _stopped(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--only", type=_numbers, default=frozenset(), help="figures, as 1,5")
    parser.add_argument("--costs", action="store_true", help="count jobs, tasks, shuffled bytes and commits")
    parser.add_argument(
        "--scale", type=float, default=1.0, help="below 1: a smoke test on less data, never published"
    )
    parser.add_argument("--out", type=Path, help="folder of the JSON files (default: docs/bench)")
    parser.add_argument("--repetitions", type=int, default=3, help="of figures on a million lines")
    parser.add_argument("--large-repetitions", type=int, default=2, help="of figures on ten million lines")
    parser.add_argument("--master", default="local[2]", help="where Spark runs")
    parser.add_argument("--heap", default="2g", help="heap of the JVM, one for all figures")
    parser.add_argument("--page", action="store_true", help="measure nothing, write docs/performance.md anew")
    asked = parser.parse_args()
    asked.smoke = asked.scale < 1
    if not (asked.only or asked.costs):
        asked.only, asked.costs = frozenset(CATALOGUE), True
    if asked.out is None:
        asked.out = cache_folder() / "smoke" if asked.smoke else DOCS / "bench"
    elif asked.smoke and DOCS in asked.out.absolute().parents:
        parser.error("the results of a smoke test do not go into docs")
    return asked


def _numbers(text: str) -> frozenset[int]:
    found = frozenset(int(part) for part in text.split(","))
    unknown = sorted(found - set(CATALOGUE))
    if unknown:
        raise argparse.ArgumentTypeError(
            f"there is no figure {unknown[0]}; there are {', '.join(map(str, CATALOGUE))}"
        )
    return found


def _warm(group: Group, sizes: Sizes) -> Data:
    """Return the input of the untimed run: little, and no more than is measured."""
    return Data.of(min(group.warm, sizes, key=lambda each: each.lines), cache_folder())


def _how(asked: argparse.Namespace, sizes: Sizes, repetitions: int) -> dict[str, Any]:
    return {
        "at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "smoke": asked.smoke,
        "scale": asked.scale,
        "lines": sizes.lines,
        "repetitions": repetitions,
        "load_average": load_average(),
    }


def _say(began: float, text: str) -> None:
    print(f"{time.monotonic() - began:7.1f} s  {text}", flush=True)


if __name__ == "__main__":
    main()
