"""The page on security names limits that exist, with the values that they have."""

import ast
import re
from pathlib import Path

import pytest

from strandline.config.settings import keys
from strandline.core import limits

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "security.md").read_text("utf-8")
FAULTS = (ROOT / "docs" / "faults.md").read_text("utf-8")


def constants() -> set[str]:
    """Names that modules of the product assign."""
    found = set()
    for path in (ROOT / "lib").rglob("*.py"):
        for node in ast.parse(path.read_text("utf-8")).body:
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return found


@pytest.mark.large
def test_limits_that_the_page_names_exist() -> None:
    named = set(re.findall(r"`((?:MAX_[A-Z0-9_]+)|(?:[A-Z]+_)?NESTING)`", PAGE))
    assert len(named) > 15
    assert named <= constants()
    settings = set(re.findall(r"`((?:limits|stream)\.[a-z_]+)`", PAGE))
    assert {key for key in keys() if key.startswith("limits.")} <= settings <= set(keys())


@pytest.mark.parametrize(
    ("limit", "value"),
    [
        ("values of a document", limits.MAX_VALUES),
        ("values of a manifest", limits.MAX_MANIFEST_VALUES),
        ("values of a file of an option", limits.MAX_OPTION_VALUES),
        ("elements of an array", limits.MAX_ELEMENTS),
    ],
)
def test_the_page_says_what_the_limits_are(limit: str, value: int) -> None:
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| {limit}"))
    assert f"{value:,}" in row


def test_tests_that_show_faults_exist() -> None:
    rows = [line for line in FAULTS.splitlines() if line.startswith("| ") and "`tests/" in line]
    named = {path for row in rows for path in re.findall(r"`(tests/[^`:]+\.py)", row)}
    assert rows
    assert all((ROOT / path).is_file() for path in named)
    tests = {each for row in rows for each in re.findall(r"`(tests/[^`:]+\.py)::(\w+)`", row)}
    assert len(tests) > 10
    assert [each for each in tests if f"def {each[1]}(" not in (ROOT / each[0]).read_text("utf-8")] == []
