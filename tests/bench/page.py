"""docs/performance.md, written from docs/bench/*.json and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from bench.catalogue import CATALOGUE, Bar
from bench.costs import CommandCosts, read_costs
from bench.results import Case, Figure, Side, read_figures

PAGE: Final = "performance.md"
MEANINGS: Final[Mapping[str, str]] = {"met": "met", "missed": "**missed**", "shown": "no bar"}
LEAST_SHARE: Final = 0.02
"""Stages that take less of a run are told as one."""

HEAD: Final = """\
# Performance

Written by `make bench` from the JSON files in `bench/`; what they say of times, versions and machine is there in full.
A figure is a ratio of two pieces of work that took turns in one run, after an untimed run of both on little data: the
median of one over the median of the other. Where the table says "once", each was measured once, and the ratio is that
of two single values. Seconds are of the machine below and move with it; ratios travel better.
"""

COSTS_HEAD: Final = """\
## What commands cost

Counts of Spark and Delta, which move little from machine to machine. Each input is ingested, reduced and ingested
again. `ingest` shuffles each new row once, to the files of its bucket; `reduce` shuffles pairs of lines and links of
entries; known input shuffles keys. `tests/spark/test_small_work.py` keeps the jobs of small commands below bounds.
"""

STAGES_NOTE: Final = """\
Where the time goes, in the run of the median. Frames are lazy: a stage's name is what was asked for then, and part of
its work may be done under the next name.
"""


def write_page(docs: Path) -> None:
    """Write docs/performance.md anew. Raises: FileNotFoundError if nothing was measured yet."""
    figures = read_figures(docs / "bench")
    if not figures:
        raise FileNotFoundError(f"{docs / 'bench'} holds no figures: run `make bench`")
    (docs / PAGE).write_text(page(figures, read_costs(docs / "bench")), encoding="utf-8")


NOTHING_MEASURED = """# Performance

No figure stands here yet: none has been measured on an idle machine for this version. `make bench` measures all of them
side by side in one run, writes `docs/bench/*.json` with versions and core count, and writes this page anew from them.
"""
"""The page before the first full run."""


def page(figures: Sequence[Figure], costs: Sequence[CommandCosts] = ()) -> str:
    """Return the page. Raises: ValueError for a figure of a smoke test: nobody publishes those."""
    smoke = [figure.number for figure in figures if figure.run["smoke"]]
    if smoke:
        raise ValueError(f"figure {smoke[0]} is of a smoke test")
    parts = [HEAD, _environments(figures), _summary(figures), *_costs(costs), *map(_section, figures)]
    return "\n".join(parts)


def _environments(figures: Sequence[Figure]) -> str:
    """Tell each environment once, with the figures that were measured in it."""
    found: list[tuple[Mapping[str, Any], list[int]]] = []
    for figure in figures:
        same = [numbers for environment, numbers in found if environment == figure.environment]
        if same:
            same[0].append(figure.number)
        else:
            found.append((figure.environment, [figure.number]))
    parts = ["## Measured on\n"]
    for environment, numbers in found:
        of = "all figures" if len(found) == 1 else "figures " + ", ".join(map(str, numbers))
        listed = " · ".join(f"{_words(name)} {value}" for name, value in environment.items())
        parts.append(f"- {of}: {listed}")
    return "\n".join(parts) + "\n"


def _summary(figures: Sequence[Figure]) -> str:
    rows = (
        (
            f"[{figure.number}](#figure-{figure.number})",
            f"{CATALOGUE[figure.number].work} / {CATALOGUE[figure.number].against}",
            " · ".join(ratio_text(case.ratio) for case in figure.cases),
            bar_text(figure.bar),
            "" if figure.bar.aim is None else f"{figure.bar.aim:g}",
            MEANINGS[figure.verdict] + (", once" if figure.is_once else ""),
        )
        for figure in figures
    )
    return "## All figures\n\n" + _table(("", "figure", "ratio", "bar", "aim", ""), rows)


def _costs(costs: Sequence[CommandCosts]) -> Iterable[str]:
    if costs:
        rows = (
            (
                each.input, each.command, f"{each.costs.jobs}", f"{each.costs.queries}", f"{each.costs.tasks}",
                f"{each.costs.shuffled_bytes:,}", f"{each.costs.commits}",
            )
            for each in costs
        )  # fmt: skip
        yield COSTS_HEAD
        yield _table(("input", "command", "jobs", "queries", "tasks", "bytes shuffled", "commits"), rows)


def _section(figure: Figure) -> str:
    described = CATALOGUE[figure.number]
    parts = [f"## Figure {figure.number}\n", f"{_sentence(described.work)} / {described.against}.\n"]
    parts.append(f"{_verdict(figure)} {described.how}\n")
    parts.append(_table(("case", "ratio", "work", "against"), map(_case_row, figure.cases)))
    beside = [(case.name, side) for case in figure.cases for side in case.beside]
    if beside:
        rows = ((name, side.name, _side_text(side)) for name, side in beside)
        parts.append("Beside it:\n\n" + _table(("case", "what", "measured"), rows))
    if figure.verdict == "missed" and any(case.stages for case in figure.cases):
        parts.append(STAGES_NOTE)
        parts.extend(_stages(case) for case in figure.cases if case.stages)
    parts.extend(f"{note}\n" for note in figure.notes)
    parts.append(_measured(figure))
    return "\n".join(parts)


def _verdict(figure: Figure) -> str:
    once = ", measured once" if figure.is_once else ""
    if figure.verdict == "shown":
        return f"No bar is set: it is shown{once}."
    worst = [case for case in figure.cases if not figure.bar.is_met(case.ratio)]
    bar = f"The bar is {bar_text(figure.bar)}"
    if not worst:
        return f"{bar}: met{once}."
    ratios = ", ".join(f"{ratio_text(case.ratio)} ({case.name})" for case in worst)
    return f"{bar}: **missed** with {ratios}{once}."


def _case_row(case: Case) -> tuple[str, ...]:
    return (case.name, ratio_text(case.ratio), _named(case.work), _named(case.against))


def _named(side: Side) -> str:
    return f"{side.name}: {_side_text(side)}"


def _side_text(side: Side) -> str:
    every = (
        ""
        if len(set(side.values)) == 1
        else f" ({', '.join(value_text(side, each) for each in side.values)})"
    )
    return f"{value_text(side, side.median)} {side.unit}{every}"


def value_text(side: Side, value: float) -> str:
    """Return a value as the page shows it: seconds with two digits behind the point, MiB with one, bytes whole."""
    if side.unit == "s":
        return f"{value:.2f}"
    return f"{value:,.1f}" if side.unit == "MiB" else f"{value:,.0f}"


def ratio_text(ratio: float) -> str:
    """Return a ratio with three significant digits, never in powers of ten."""
    return f"{ratio:.0f}" if ratio >= 100 else f"{ratio:#.3g}"


def bar_text(bar: Bar) -> str:
    """Return a bar in words of the tables."""
    if bar.most is not None and bar.least is not None:
        return f"{bar.least:.2g} to {bar.most:g}"
    if bar.most is not None:
        return f"<= {bar.most:g}"
    return "" if bar.least is None else f">= {bar.least:g}"


def _stages(case: Case) -> str:
    total = sum(case.stages.values())
    large = {name: took for name, took in case.stages.items() if took >= LEAST_SHARE * total}
    rest = total - sum(large.values())
    rows = [(name, f"{took:.2f}", f"{took / total:.0%}") for name, took in large.items()]
    if rest > 0.005:
        rows.append((f"{len(case.stages) - len(large)} others", f"{rest:.2f}", f"{rest / total:.0%}"))
    return f"{_sentence(case.name)}:\n\n" + _table(("stage", "seconds", "share"), rows)


def _measured(figure: Figure) -> str:
    run = figure.run
    times = "once" if run["repetitions"] == 1 else f"{run['repetitions']} times each"
    return f"Measured {times}, {run['at'][:10]}, load average at the end {run['load_average']}.\n"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(_cell(cell) for cell in line) + " |\n" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _words(name: str) -> str:
    return name.replace("_gib", " (GiB)").replace("_", " ")
