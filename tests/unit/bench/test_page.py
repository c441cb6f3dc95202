"""docs/performance.md says what the JSON files say, and says so of missed bars."""

from dataclasses import replace
from pathlib import Path

import pytest

from bench.catalogue import CATALOGUE, Bar
from bench.costs import CommandCosts, Costs, read_costs, write_costs
from bench.page import NOTHING_MEASURED, bar_text, page, ratio_text, value_text, write_page
from bench.results import Case, Figure, Side, read_figures, write_figures

WHERE = {"python": "3.11.7", "java": "17.0.9", "cores": 2, "heap": "2g", "memory_gib": 15.6}
HOW = {"at": "2026-01-31T09:30:00Z", "smoke": False, "scale": 1.0, "repetitions": 3, "load_average": 1.5}
STAGES = {"lines": 6.0, "union merge": 3.9, "run": 0.1}
DOCS = Path(__file__).parents[3] / "docs"


def ingest(seconds: float) -> Figure:
    work = Side("ingest", "s", (seconds, seconds + 1, seconds - 1))
    case = Case("1,000 journals of 1,000 lines", work, Side("load", "s", (4.0,)), stages=STAGES)
    return Figure(1, (case,), WHERE, HOW)


MEMORY = Figure(
    12, (Case("all / one", Side("all", "MiB", (1234.56,)), Side("one", "MiB", (1200.0,))),), WHERE, HOW
)
SHOWN = Figure(48, (Case("c", Side("a", "s", (30.0,)), Side("b", "s", (10.0,))),), WHERE, HOW)


def test_a_bar_that_is_kept_reads_met_and_tells_no_stages() -> None:
    text = page([ingest(10.0)])
    assert "| 2.50 | <= 3 | 2 | met |" in text
    assert "The bar is <= 3: met." in text
    assert "Where the time goes" not in text


def test_a_verdict_on_one_repetition_says_once() -> None:
    once = {**HOW, "repetitions": 1}
    met, missed, shown = (page([replace(figure, run=once)]) for figure in (ingest(10.0), ingest(14.0), SHOWN))
    assert "| 2.50 | <= 3 | 2 | met, once |" in met
    assert "The bar is <= 3: met, measured once." in met
    assert "| 3.50 | <= 3 | 2 | **missed**, once |" in missed
    assert "**missed** with 3.50 (1,000 journals of 1,000 lines), measured once." in missed
    assert "| 3.00 |  |  | no bar, once |" in shown
    assert ", once |" not in page([ingest(10.0), SHOWN])


def test_the_page_of_the_repository_says_once_of_each_figure_with_one_repetition() -> None:
    text = (DOCS / "performance.md").read_text(encoding="utf-8")
    rows = {
        int(row.partition("]")[0].removeprefix("| [")): row
        for row in text.splitlines() if row.startswith("| [")
    }  # fmt: skip
    once = {figure.number for figure in read_figures(DOCS / "bench") if figure.run["repetitions"] == 1}
    assert {number for number, row in rows.items() if row.endswith(", once |")} == once


def test_a_missed_bar_reads_missed_with_the_stages_of_its_median_run() -> None:
    text = page([ingest(14.0)])
    assert "| 3.50 | <= 3 | 2 | **missed** |" in text
    assert "The bar is <= 3: **missed** with 3.50 (1,000 journals of 1,000 lines)." in text
    assert "| lines | 6.00 | 60% |" in text
    assert "| union merge | 3.90 | 39% |" in text


def test_stages_of_little_weight_are_told_as_one() -> None:
    text = page([ingest(14.0)])
    assert "| 1 others | 0.10 | 1% |" in text
    assert "| run |" not in text


def test_every_single_measurement_is_shown_behind_its_median() -> None:
    assert "| ingest: 10.00 s (10.00, 11.00, 9.00) | load: 4.00 s |" in page([ingest(10.0)])


def test_a_figure_without_a_bar_is_shown_as_such() -> None:
    text = page([SHOWN])
    assert "| 3.00 |  |  | no bar |" in text
    assert "No bar is set: it is shown." in text


def test_the_bar_is_judged_by_the_ratio_and_not_by_what_the_table_rounds_it_to() -> None:
    barely = replace(
        ingest(10.0),
        cases=(Case("c", Side("ingest", "s", (3.0001,)), Side("load", "s", (1.0,))),),
    )
    text = page([barely])
    assert "3.00" in text
    assert "**missed**" in text


def test_an_environment_that_all_figures_share_is_told_once() -> None:
    text = page([ingest(10.0), MEMORY])
    assert "- all figures: python 3.11.7 · java 17.0.9 · cores 2 · heap 2g · memory (GiB) 15.6" in text


def test_figures_of_two_runs_on_two_machines_each_name_theirs() -> None:
    text = page([ingest(10.0), replace(MEMORY, environment={"cores": 8}), SHOWN])
    assert "- figures 1, 48: python" in text
    assert "- figures 12: cores 8" in text


def test_what_is_measured_beside_a_figure_has_a_table_of_its_own() -> None:
    case = replace(ingest(10.0).cases[0], beside=(Side("reduce of one line", "s", (1.5,)),))
    text = page([replace(ingest(10.0), cases=(case,))])
    assert "| 1,000 journals of 1,000 lines | reduce of one line | 1.50 s |" in text


def test_notes_stand_in_the_section_of_their_figure() -> None:
    assert "\nLoops read one file.\n" in page([replace(SHOWN, notes=("Loops read one file.",))])


def test_a_cell_cannot_break_its_table() -> None:
    case = replace(ingest(10.0).cases[0], name="a|b\nc")
    assert "| a\\|b c | 2.50 |" in page([replace(ingest(10.0), cases=(case,))])


def test_a_figure_of_a_smoke_test_is_never_published() -> None:
    with pytest.raises(ValueError, match="figure 1 is of a smoke test"):
        page([replace(ingest(10.0), run={**HOW, "smoke": True})])


def test_without_a_measurement_no_page_is_written(tmp_path: Path) -> None:
    (tmp_path / "bench").mkdir()
    with pytest.raises(FileNotFoundError, match="make bench"):
        write_page(tmp_path)


def test_the_page_comes_from_the_files_alone(tmp_path: Path) -> None:
    write_figures(tmp_path / "bench", [MEMORY, ingest(10.0)])
    write_page(tmp_path)
    assert (tmp_path / "performance.md").read_text() == page([ingest(10.0), MEMORY])


def test_the_page_of_the_repository_is_that_of_its_files() -> None:
    figures = read_figures(DOCS / "bench")
    written = DOCS / "performance.md"
    assert (written.read_text() if written.exists() else "") == (
        page(figures, read_costs(DOCS / "bench")) if figures else NOTHING_MEASURED
    )


@pytest.mark.parametrize(
    ("ratio", "text"), [(0.05, "0.0500"), (0.3333, "0.333"), (1.0, "1.00"), (12.34, "12.3"), (1234.5, "1234")]
)
def test_a_ratio_has_three_digits_that_count(ratio: float, text: str) -> None:
    assert ratio_text(ratio) == text


@pytest.mark.parametrize(
    ("bar", "text"),
    [(Bar(most=1.2), "<= 1.2"), (Bar(most=3, least=1 / 3), "0.33 to 3"), (Bar(least=2), ">= 2"), (Bar(), "")],
)
def test_a_bar_in_words(bar: Bar, text: str) -> None:
    assert bar_text(bar) == text


@pytest.mark.parametrize(
    ("side", "text"),
    [(Side("a", "s", (1.005,)), "1.00"), (Side("a", "MiB", (1234.56,)), "1,234.6"),
     (Side("a", "bytes", (1234567.0,)), "1,234,567")],
)  # fmt: skip
def test_a_value_is_shown_by_its_unit(side: Side, text: str) -> None:
    assert value_text(side, side.median) == text


def test_every_figure_of_the_catalogue_has_a_page() -> None:
    figures = [replace(SHOWN, number=number) for number in CATALOGUE]
    text = page(figures)
    assert all(f"\n## Figure {number}\n" in text for number in CATALOGUE)


def test_costs_of_commands_are_written_read_and_shown(tmp_path: Path) -> None:
    found = (CommandCosts("1 journal of 1,000 lines", "ingest", Costs(12, 7, 40, 123456, 2)),)
    write_costs(tmp_path, found, WHERE)
    assert read_costs(tmp_path) == found
    # A file of costs is no figure.
    write_figures(tmp_path, [SHOWN])
    assert [figure.number for figure in read_figures(tmp_path)] == [48]
    text = page([SHOWN], found)
    assert "| 1 journal of 1,000 lines | ingest | 12 | 7 | 40 | 123,456 | 2 |" in text
    assert "What commands cost" not in page([SHOWN], read_costs(tmp_path / "nowhere"))
