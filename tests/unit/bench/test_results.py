"""Figures as values: what a ratio says of its bar, and that JSON loses nothing of it."""

import re
from pathlib import Path

import pytest

from bench.catalogue import CATALOGUE, Bar
from bench.results import Case, Figure, Side, figure_of, read_figures, write_figures

WHERE = {"python": "3.11.7", "cores": 2}
HOW = {"at": "2026-01-31T09:30:00Z", "smoke": False, "scale": 1.0, "repetitions": 3, "load_average": 1.5}


def figure(number: int, *ratios: float) -> Figure:
    cases = tuple(
        Case(f"case {ratio}", Side("work", "s", (ratio,)), Side("against", "s", (1.0,))) for ratio in ratios
    )
    return Figure(number, cases, WHERE, HOW)


def test_a_ratio_is_that_of_the_medians() -> None:
    case = Case("c", Side("a", "s", (9.0, 3.0, 4.0)), Side("b", "s", (1.0, 2.0, 100.0)))
    assert case.ratio == 2.0


def test_a_side_that_nobody_measured_is_refused() -> None:
    with pytest.raises(ValueError, match="no measurement"):
        Side("a", "s", ())


@pytest.mark.parametrize(
    ("bar", "ratio", "met"),
    [
        (Bar(most=3), 3.0, True), (Bar(most=3), 3.0001, False), (Bar(most=3, least=1 / 3), 0.33, False),
        (Bar(most=3, least=1 / 3), 1.0, True), (Bar(most=3, least=1 / 3), 3.1, False), (Bar(), 99.0, True),
    ],
)  # fmt: skip
def test_a_bar_is_met_up_to_its_very_edge(bar: Bar, ratio: float, met: bool) -> None:
    assert bar.is_met(ratio) is met


def test_one_case_over_the_bar_makes_the_figure_missed() -> None:
    assert figure(1, 1.0, 3.0).verdict == "met"
    assert figure(1, 1.0, 3.1).verdict == "missed"


def test_a_figure_without_a_bar_is_shown_whatever_it_is() -> None:
    assert figure(48, 50.0).verdict == "shown"


def test_figures_come_back_from_their_files_by_number(tmp_path: Path) -> None:
    beside = (Side("reduce of one line", "s", (1.25, 1.5)),)
    ninth = Figure(
        9,
        (
            Case(
                "news",
                Side("a", "s", (1.0, 2.0)),
                Side("b", "MiB", (10.5,)),
                beside,
                {"lines": 0.25, "run": 1.0},
            ),
        ),
        WHERE,
        HOW,
        ("a note",),
    )
    write_figures(tmp_path, [ninth, figure(1, 2.5)])
    assert read_figures(tmp_path) == (figure(1, 2.5), ninth)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "01-verified-ingest.json", "09-incremental-reduce.json",
    ]  # fmt: skip


def test_what_a_file_says_of_ratio_and_verdict_is_computed_anew() -> None:
    told = figure(1, 3.5).to_json().replace('"missed"', '"met"').replace('"ratio": 3.5', '"ratio": 0.1')
    assert figure_of(told).verdict == "missed"
    assert figure_of(told).cases[0].ratio == 3.5


def test_a_description_was_written_before_the_measurement_so_it_tells_no_verdict_and_no_ratio() -> None:
    said = [
        (number, found)
        for number, described in CATALOGUE.items()
        for found in re.findall(r"\b(?:bar|met|missed)\b|\d+\.\d+", described.how)
    ]
    assert said == []


def test_file_names_are_distinct() -> None:
    names = {figure(number, 1.0).file_name for number in CATALOGUE}
    assert len(names) == len(CATALOGUE)
