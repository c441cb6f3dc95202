"""Figures about `ingest` of a million lines: 1, 6, 10, 11, 13, 28, 29."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from bench.bench import Bench
from bench.by_hand import EVERY_BUCKET, journal_lines, unknown_lines
from bench.data import BUCKETS, text_bytes
from bench.engine import Engine
from bench.measure import Contender, Run, alternate, median_run, seconds_case, timed
from bench.results import Case, Side
from bench.rows import TABLE, ingest_in_one_process, live_bytes

FIRST, AGAIN, PLAIN = "ingest", "ingest again", "spark.read.text to Delta"
TWICE, ALONE = "ingest of twice the lines", "Python loop, polars, delta-rs"
UNVERIFIED, ANTI_JOIN = "unverified rows by the same MERGE", "anti-join by hand"
VERIFIED_NOTE = "Tables are made before: `init` is a command of its own."


class _Turns:
    """The contenders on one input; the lake of the last first ingest waits for being given the same again."""

    def __init__(self, engine: Engine, sources: Iterable[str | Path], lines: int) -> None:
        self._engine = engine
        self._sources = tuple(map(str, sources))
        self._lines = lines
        self._last: Path | None = None
        self.text_bytes = text_bytes(self._sources)
        self.live_bytes: list[float] = []

    def first(self) -> Run:
        """Ingest into an empty lake."""
        if self._last is not None:
            self._engine.drop(self._last)
        self._last = self._engine.empty_lake()
        done = self._engine.ingest(self._last, self._sources, new=self._lines).run
        self.live_bytes.append(float(live_bytes(self._last / TABLE)))
        return done

    def again(self) -> Run:
        """Ingest the same into the lake that has it, reduced."""
        if self._last is None:
            raise RuntimeError("the first ingest comes first")
        self._engine.reduce(self._last)
        return self._engine.ingest(self._last, self._sources, new=0).run

    def anti_join(self) -> Run:
        """Look for lines that the lake with the last first ingest does not have."""
        if self._last is None:
            raise RuntimeError("the first ingest comes first")
        lake, found = self._last, list[int]()
        done = timed(lambda: found.append(unknown_lines(self._engine, lake, self._sources)))
        if found != [0]:
            raise RuntimeError(f"the join found {found} lines that the lake does not have")
        return done

    def unverified(self) -> Run:
        """Write the columns of the same files to an empty lake, unverified."""
        lake, inserted = self._engine.empty_lake(), list[int]()
        store = self._engine.store(lake)

        def work() -> None:
            rows = journal_lines(self._engine, self._sources)
            bounds = {"n": (1, self._lines)}
            inserted.append(store.merge_new(TABLE, rows, EVERY_BUCKET, bounds).inserted)

        done = timed(work)
        self._engine.drop(lake)
        if inserted != [self._lines]:
            raise RuntimeError(f"the load wrote {inserted} lines, not {self._lines}")
        return done

    def plain(self) -> Run:
        """Load the same files as they are."""
        target = self._engine.new_path()
        done = plain_load(self._engine, self._sources, target)
        self._engine.drop(target)
        return done

    def end(self) -> None:
        """Let the last lake go."""
        if self._last is not None:
            self._engine.drop(self._last)


def plain_load(engine: Engine, sources: Iterable[str | Path], target: Path) -> Run:
    """Load text into a new Delta table without looking at it."""
    paths = list(map(str, sources))
    return timed(lambda: engine.spark.read.text(paths).write.format("delta").save(str(target)))


def measure(bench: Bench) -> None:
    """Measure the figures on many journals and on one long journal, and keep those that are wanted."""
    sizes = bench.data.sizes
    many = _Turns(bench.engine, bench.data.many(), sizes.lines)
    runs = alternate(_contenders(bench, many), bench.repetitions)
    shapes = [(sizes.many(), many, runs)]
    if bench.wants(1, 10, 11, 28, 29):
        one = _Turns(bench.engine, (bench.data.one(),), sizes.lines)
        shapes.insert(0, (sizes.one, one, alternate(_of_both_shapes(bench, one), bench.repetitions)))
        one.end()
    many.end()
    for number, work, against in (
        (1, FIRST, PLAIN), (10, AGAIN, FIRST), (28, FIRST, UNVERIFIED), (29, AGAIN, ANTI_JOIN)
    ):  # fmt: skip
        if bench.wants(number):
            cases = tuple(
                seconds_case(name, (work, each[work]), (against, each[against])) for name, _, each in shapes
            )
            bench.keep(number, cases, bench.repetitions, (VERIFIED_NOTE,))
    if bench.wants(11):
        cases = tuple(_bytes_case(name, turns) for name, turns, _ in shapes)
        bench.keep(11, cases, bench.repetitions, ())
    if bench.wants(6):
        name = f"{sizes.many(2)} / {sizes.many()}"
        case = seconds_case(name, (TWICE, runs[TWICE]), (FIRST, runs[FIRST]))
        bench.keep(6, (case,), bench.repetitions, (VERIFIED_NOTE, _stages_of_first(runs[FIRST])))
    if bench.wants(13):
        case = seconds_case(sizes.many(), (FIRST, runs[FIRST]), (ALONE, runs[ALONE]))
        bench.keep(13, (case,), bench.repetitions, (VERIFIED_NOTE,))


def _contenders(bench: Bench, many: _Turns) -> dict[str, Contender]:
    engine, data = bench.engine, bench.data
    folders = data.many(2)

    def twice() -> Run:
        lake = engine.empty_lake()
        done = engine.ingest(lake, folders, new=2 * data.sizes.lines).run
        engine.drop(lake)
        return done

    def alone() -> Run:
        table = engine.new_path()
        added: list[int] = []
        done = timed(lambda: added.append(ingest_in_one_process(folders[:1], table, buckets=BUCKETS)))
        if added != [data.sizes.lines]:
            raise RuntimeError(f"one process kept {added}, not {data.sizes.lines} lines")
        engine.drop(table)
        return done

    wanted = _of_both_shapes(bench, many)
    wanted |= {TWICE: twice} if bench.wants(6) else {}
    wanted |= {ALONE: alone} if bench.wants(13) else {}
    return wanted


def _of_both_shapes(bench: Bench, turns: _Turns) -> dict[str, Contender]:
    wanted: dict[str, Contender] = {FIRST: turns.first}
    wanted |= {AGAIN: turns.again} if bench.wants(10, 29) else {}
    wanted |= {ANTI_JOIN: turns.anti_join} if bench.wants(29) else {}
    wanted |= {PLAIN: turns.plain} if bench.wants(1) else {}
    wanted |= {UNVERIFIED: turns.unverified} if bench.wants(28) else {}
    return wanted


def _bytes_case(name: str, turns: _Turns) -> Case:
    live = Side("live data files", "bytes", tuple(turns.live_bytes))
    return Case(name, live, Side("text", "bytes", (float(turns.text_bytes),)))


def _stages_of_first(runs: tuple[Run, ...]) -> str:
    stages = sorted(median_run(runs).stages.items(), key=lambda each: -each[1])
    return (
        "Stages of the ingest of the lines: "
        + ", ".join(f"{name} {took:.1f} s" for name, took in stages[:6])
        + "."
    )
