"""The page on security names limits that exist, with the values that they have."""

import ast
import importlib
import re
from operator import attrgetter
from pathlib import Path

import pytest

from strandline.config.layers import defaults
from strandline.config.settings import keys

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "security.md").read_text("utf-8")
FAULTS = (ROOT / "docs" / "faults.md").read_text("utf-8")


NAMED = set(re.findall(r"`([A-Z][A-Z0-9]*_[A-Z0-9_]+|NESTING)`", PAGE))
Values = dict[str, set[object]]


@pytest.fixture(scope="module")
def constants() -> Values:
    """The constants that the page names, with their numbers: modules can give one name to several."""
    found: Values = {}
    for path in (ROOT / "lib").rglob("*.py"):
        for node in ast.parse(path.read_text("utf-8")).body:
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            names = {target.id for target in targets if isinstance(target, ast.Name)}
            for name in names & NAMED:
                module = ".".join(path.relative_to(ROOT / "lib").with_suffix("").parts)
                found.setdefault(name, set()).add(getattr(importlib.import_module(module), name))
    return found


def spelled(value: object) -> set[str]:
    """The ways in which the page writes a number: with commas, or in the largest unit that divides it."""
    assert isinstance(value, int), value
    units = {"GiB": 1 << 30, "MiB": 1 << 20, "KiB": 1 << 10}
    return {f"{value:,}", *(f"{value // size} {unit}" for unit, size in units.items() if value % size == 0)}


@pytest.mark.large
def test_limits_that_the_page_names_exist(constants: Values) -> None:
    named = set(re.findall(r"`((?:MAX_[A-Z0-9_]+)|(?:[A-Z]+_)?NESTING)`", PAGE))
    assert len(named) > 15
    assert named <= constants.keys()
    settings = set(re.findall(r"`((?:limits|stream)\.[a-z_]+)`", PAGE))
    assert {key for key in keys() if key.startswith("limits.")} <= settings <= set(keys())


@pytest.mark.large
def test_the_page_says_what_the_limits_are(constants: Values) -> None:
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines()]
    wrong, seen = [], 0
    for cells in rows:
        for name in re.findall(r"`([A-Z][A-Z_]+|[a-z]+\.[a-z_]+)`", cells[3]) if len(cells) == 5 else ():
            values = constants[name] if name.isupper() else {attrgetter(name)(defaults())}
            numbers = {number for value in values for number in spelled(value)}
            seen += 1
            if not any(re.search(rf"(?<![\d,]){number}(?!\d|,\d)", cells[2]) for number in numbers):
                wrong.append((name, numbers, cells[2]))
    assert seen > 40
    assert wrong == []


def test_tests_that_show_faults_exist() -> None:
    rows = [line for line in FAULTS.splitlines() if line.startswith("| ") and "`tests/" in line]
    named = {path for row in rows for path in re.findall(r"`(tests/[^`:]+\.py)", row)}
    assert rows
    assert all((ROOT / path).is_file() for path in named)
    tests = {each for row in rows for each in re.findall(r"`(tests/[^`:]+\.py)::(\w+)`", row)}
    assert len(tests) > 10
    assert [each for each in tests if f"def {each[1]}(" not in (ROOT / each[0]).read_text("utf-8")] == []
