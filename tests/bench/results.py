"""Figures as values, and as JSON: what was measured, each time of it, and what that says of the bar."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from bench.catalogue import CATALOGUE, Bar

Verdict = Literal["met", "missed", "shown"]
Unit = Literal["s", "bytes", "MiB", "1/s"]


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison: each value that was measured, in the order of measuring."""

    name: str
    unit: Unit
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        """Refuse a side that nobody measured."""
        if not self.values:
            raise ValueError(f"{self.name} has no measurement")

    @property
    def median(self) -> float:
        """The median of the values."""
        return statistics.median(self.values)


@dataclass(frozen=True, slots=True)
class Case:
    """One ratio: the median of `work` over that of `against`; `stages` are seconds of the median run of `work`."""

    name: str
    work: Side
    against: Side
    beside: tuple[Side, ...] = ()
    stages: Mapping[str, float] = field(default_factory=dict)

    @property
    def ratio(self) -> float:
        """Work over against."""
        return self.work.median / self.against.median


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure. `environment` is where it was measured, `run` how (scale, repetitions, time)."""

    number: int
    cases: tuple[Case, ...]
    environment: Mapping[str, Any]
    run: Mapping[str, Any]
    notes: tuple[str, ...] = ()

    @property
    def bar(self) -> Bar:
        """The bar of the catalogue."""
        return CATALOGUE[self.number].bar

    @property
    def verdict(self) -> Verdict:
        """`met` if every case keeps to the bar, `shown` if there is none."""
        if not self.bar.is_set:
            return "shown"
        return "met" if all(self.bar.is_met(case.ratio) for case in self.cases) else "missed"

    @property
    def is_once(self) -> bool:
        """True if each side was measured once: then its ratio is not one of medians."""
        return bool(self.run["repetitions"] == 1)

    @property
    def file_name(self) -> str:
        """Name of its file in docs/bench."""
        return f"{self.number:02d}-{CATALOGUE[self.number].slug}.json"

    def to_json(self) -> str:
        """Return the figure as a JSON document."""
        described = CATALOGUE[self.number]
        bar = {"most": self.bar.most, "least": self.bar.least, "aim": self.bar.aim}
        document = {
            "figure": self.number,
            "work": described.work,
            "against": described.against,
            "bar": {name: value for name, value in bar.items() if value is not None},
            "verdict": self.verdict,
            "cases": [_case_object(case) for case in self.cases],
            "notes": list(self.notes),
            "run": dict(self.run),
            "environment": dict(self.environment),
        }
        return json.dumps(document, indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def figure_of(text: str) -> Figure:
    """Return the figure that a JSON document of `Figure.to_json` states; ratios and verdict are computed anew."""
    document = json.loads(text)
    cases = tuple(
        Case(
            each["name"],
            _side(each["work"]),
            _side(each["against"]),
            tuple(_side(side) for side in each["beside"]),
            dict(each["stages"]),
        )
        for each in document["cases"]
    )
    return Figure(
        document["figure"], cases, document["environment"], document["run"], tuple(document["notes"])
    )


def read_figures(folder: Path) -> tuple[Figure, ...]:
    """Return the figures of a folder, by number."""
    found = (figure_of(path.read_text(encoding="utf-8")) for path in folder.glob("[0-9]*.json"))
    return tuple(sorted(found, key=lambda figure: figure.number))


def write_figures(folder: Path, figures: Iterable[Figure]) -> None:
    """Write each figure to its file; the files of other figures stay as they are."""
    folder.mkdir(parents=True, exist_ok=True)
    for figure in figures:
        (folder / figure.file_name).write_text(figure.to_json(), encoding="utf-8")


def _case_object(case: Case) -> dict[str, Any]:
    return {
        "name": case.name,
        "ratio": _significant(case.ratio),
        "work": _side_object(case.work),
        "against": _side_object(case.against),
        "beside": [_side_object(side) for side in case.beside],
        "stages": {name: round(seconds, 3) for name, seconds in case.stages.items()},
    }


def _side_object(side: Side) -> dict[str, Any]:
    digits = 6 if side.unit == "s" else 1
    return {
        "name": side.name,
        "unit": side.unit,
        "median": round(side.median, digits),
        "values": [round(value, digits) for value in side.values],
    }


def _significant(ratio: float) -> float:
    return float(f"{ratio:.4g}")


def _side(document: Mapping[str, Any]) -> Side:
    return Side(document["name"], document["unit"], tuple(document["values"]))
