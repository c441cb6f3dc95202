"""The page of what was measured, for the pages on sizing and on limits: from docs/bench."""

import json
from pathlib import Path
from typing import Any

from bench.catalogue import CATALOGUE
from bench.page import bar_text, ratio_text
from bench.results import read_figures
from docsite import markdown

BENCH = Path(__file__).parents[2] / "docs" / "bench"

MILLIONS = 50
"""Lines of figure 36, in millions."""


def page() -> str:
    """Return the page."""
    environment = _read("01-verified-ingest")["environment"]
    machine = f"{environment['cores']} cores, {environment['processor']}, heap {environment['heap']}"
    return markdown.page(
        "Measured",
        f"Measured by `make bench` on one machine ({machine}). Machines differ: take the orders of magnitude, and"
        " measure your own with `make bench`. [Sizing](../sizing.md) says what follows,"
        " [Performance](../performance.md) has each figure with its comparison.",
        markdown.table(("what", "measured", "figure"), _rows()),
        "## Missed bars",
        "A figure divides what Strandline takes, or does in a second, by that of the comparison; several numbers are of"
        ' several cases, and those with "once" were measured once. The bars are our own, and every other figure that'
        " has one keeps it.",
        markdown.table(("figure", "ratio", "bar"), _missed()),
    )


def _missed() -> list[tuple[str, str, str]]:
    """Return a row for each figure that misses its bar."""
    return [
        (
            f"{_figure(figure.number)} {CATALOGUE[figure.number].work} / {CATALOGUE[figure.number].against}",
            " · ".join(ratio_text(case.ratio) for case in figure.cases)
            + (", once" if figure.is_once else ""),
            bar_text(figure.bar),
        )
        for figure in read_figures(BENCH)
        if figure.verdict == "missed"
    ]


def _rows() -> list[tuple[str, str, str]]:
    lines = _case("01-verified-ingest")
    bytes_of = _case("11-bytes")["work"]["median"]
    logs = _case("40-log-depth")["against"]
    one_file = _case("25-one-file")
    worker = _case("12-worker-memory")["work"]
    stream = _case("24-stream")
    return [
        (
            "verified ingest of one journal of 1,000,000 lines",
            f"{1_000_000 / lines['work']['median']:,.0f} lines a second",
            _figure(1),
        ),
        (
            "verified ingest of 80 logs of 1,000 entries",
            f"{80_000 / logs['median']:,.0f} entries a second, each with its signatures",
            _figure(40),
        ),
        ("a line in the table `node_journal_line`", f"{bytes_of / 1_000_000:,.0f} bytes", _figure(11)),
        (
            f"ingest and reduce of {one_file['name']}",
            f"{one_file['work']['median']:.1f} seconds",
            _figure(25),
        ),
        (
            f"`stream --available-now` of {stream['name']} in four batches",
            f"{stream['work']['median']:.0f} seconds",
            _figure(24),
        ),
        (
            "the largest Python worker, 10,000,000 lines",
            f"{worker['median']:.0f} {worker['unit']}",
            _figure(12),
        ),
        ("start of a session", f"{logs_start():.0f} seconds", _figure(16)),
        *_sums(),
    ]


def _sums() -> list[tuple[str, str, str]]:
    """Return what the page on sizing takes for its sums."""
    large, cores = (
        _case("36-growth-fivefold")["work"]["median"],
        _read("36-growth-fivefold")["environment"]["cores"],
    )
    beside = {each["name"]: each["median"] for each in _case("34-scale-out")["beside"]}
    of_core, of_driver = large * cores / MILLIONS, beside["CPU of driver, two workers"]
    return [
        (
            "C: seconds of a core for a million lines, in an ingest of fifty million",
            f"{of_core:.1f}",
            _figure(36),
        ),
        ("D: seconds of the driver, in an ingest of eight million lines", f"{of_driver:.1f}", _figure(34)),
        (
            "a thousand million lines on 100 cores, by the sum D + C * M / N",
            f"{of_driver + of_core * 1000 / 100:.0f} seconds, not measured",
            f"{_figure(34)}, {_figure(36)}",
        ),
    ]


def logs_start() -> float:
    """Return the seconds that the start of a session took."""
    cases = _read("16-log-ingest")["cases"]
    return float(
        next(
            beside["median"]
            for case in cases
            for beside in case["beside"]
            if beside["name"] == "session start"
        )
    )


def _figure(number: int) -> str:
    return f"[{number}](../performance.md#figure-{number})"


def _case(name: str) -> dict[str, Any]:
    case: dict[str, Any] = _read(name)["cases"][0]
    return case


def _read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((BENCH / f"{name}.json").read_text(encoding="utf-8"))
    return found
