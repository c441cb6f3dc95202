"""The page about logs in Python: its examples are true."""

import doctest
from pathlib import Path


def test_the_examples_of_the_page_are_true():
    page = Path(__file__).parents[3] / "docs" / "log.md"
    found = doctest.testfile(str(page), module_relative=False)
    assert found.attempted > 20
    assert found.failed == 0
