"""A sample of mutants is the same for a seed, and each of its mutants is counted once on the page."""

import json
import runpy
from pathlib import Path

import pytest

from mutants.page import page
from mutants.tree import PARTS, ROOT, TESTS, make_tree, part_of
from mutants.verdicts import lived, read_codes, rows_of, sample_of

CODES = {
    "strandline.core.ids.x_a__mutmut_1": 1,
    "strandline.core.encoding.base_n.x_a__mutmut_1": 0,
    "strandline.contracts.ddl.x_a__mutmut_1": 33,
    "strandline.dialects.sdmp.verify.tree.x_a__mutmut_1": 36,
    "strandline.dialects.ipfslog.reduce.dag.xǁDagǁa__mutmut_1": -24,
    "strandline.dialects.ipfslog.reduce.dag.x_b__mutmut_1": None,
    "strandline.dialects.ipfslog.reduce.dag.x_b__mutmut_2": 2,
}


def test_each_judged_mutant_is_killed_survived_or_met_by_no_test() -> None:
    rows = {row.part: row for row in rows_of(CODES, CODES)}
    assert list(rows) == [*PARTS, "all"]
    told = {
        part: (row.made, row.judged, row.killed, row.survived, row.untested) for part, row in rows.items()
    }
    assert told == {
        "core": (2, 2, 1, 1, 0), "contracts": (1, 1, 0, 0, 1), "dialects/sdmp/verify": (1, 1, 1, 0, 0),
        "dialects/sdmp/reduce": (0, 0, 0, 0, 0), "dialects/ipfslog/verify": (0, 0, 0, 0, 0),
        "dialects/ipfslog/reduce": (3, 1, 1, 0, 0), "dialects/aura/verify": (0, 0, 0, 0, 0),
        "dialects/aura/reduce": (0, 0, 0, 0, 0), "dialects/devicelog/verify": (0, 0, 0, 0, 0),
        "dialects/devicelog/reduce": (0, 0, 0, 0, 0), "all": (7, 5, 3, 1, 1),
    }  # fmt: skip
    assert (rows["all"].surviving_share, rows["dialects/sdmp/reduce"].surviving_share) == (0.4, 0.0)
    assert lived(CODES, CODES) == [
        "strandline.contracts.ddl.x_a__mutmut_1",
        "strandline.core.encoding.base_n.x_a__mutmut_1",
    ]


def test_what_verifies_and_reduces_is_mutated_in_every_dialect_and_its_tests_judge() -> None:
    package = ROOT / "lib" / "strandline"
    names = [path.parent.name for path in sorted((package / "dialects").glob("*/verify"))]
    assert len(names) == 4
    assert {f"dialects/{name}/{part}" for name in names for part in ("verify", "reduce")} <= set(PARTS)
    assert {f"tests/unit/{name}" for name in names} <= set(TESTS)
    assert all((ROOT / tests).is_dir() for tests in TESTS)


def test_a_sample_follows_its_seed_and_not_the_order_of_the_mutants() -> None:
    drawn = sample_of(CODES, 3, 1)
    assert drawn == sample_of(reversed(list(CODES)), 3, 1)
    assert len(set(drawn)) == 3
    assert sorted(sample_of(CODES, 99, 1)) == sorted(CODES)
    assert len({tuple(sample_of(CODES, 3, seed)) for seed in range(9)}) > 1


def test_codes_are_read_from_what_mutmut_leaves(tmp_path: Path) -> None:
    place = tmp_path / "mutants" / "src" / "strandline" / "core"
    place.mkdir(parents=True)
    (place / "ids.py.meta").write_text(
        json.dumps({"exit_code_by_key": {"strandline.core.ids.x_a__mutmut_1": 0}})
    )
    assert read_codes(tmp_path) == {"strandline.core.ids.x_a__mutmut_1": 0}


def test_the_page_tells_sample_share_date_commit_and_versions() -> None:
    text = page(
        rows_of(CODES, CODES), date="2026-01-31", commit="0123abcd", seed=5, versions={"mutmut": "1.2"}
    )
    assert "2026-01-31, commit `0123abcd`: of 7 mutants a sample of 5 (seed 5), **40.0% survived**" in text
    assert "| `core` | 2 | 2 | 1 | 1 | 0 | 50.0% |" in text
    assert "Versions: mutmut 1.2." in text


@pytest.mark.large
def test_the_tree_that_is_mutated_has_every_part_in_src_and_the_tests_beside_it(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "tree")
    for part in PARTS:
        assert any((tree / "src" / "strandline" / part).glob("*.py"))
    settings = (tree / "pyproject.toml").read_text("utf-8")
    assert ('pythonpath = ["src", "tests"]' in settings, "[tool.mutmut]" in settings) == (True, True)
    name = Path(__file__).relative_to(ROOT)
    assert (tree / name).read_bytes() == Path(__file__).read_bytes()
    measures = runpy.run_path(str(tree / "tests" / "support" / "effort.py"))
    with pytest.raises(pytest.skip.Exception, match="which counts, too"):
        measures["calls_of"](abs, -1)
    assert measures["peak_bytes"](list) >= 0


def test_a_mutant_is_of_the_part_that_its_name_says() -> None:
    assert {part_of(name) for name in CODES} <= set(PARTS)
    assert part_of("strandline.core.ids.x_a__mutmut_1") == "core"
