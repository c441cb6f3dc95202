"""The page about Aura: its examples in Python are true, and so are those of the functions that read facts."""

import doctest
from pathlib import Path

from strandline.dialects.aura.author import reading

PAGE = Path(__file__).parents[3] / "docs" / "aura.md"


def test_the_examples_of_the_page_are_true():
    found = doctest.testfile(str(PAGE), module_relative=False)
    assert found.attempted > 30
    assert found.failed == 0


def test_the_examples_of_the_functions_that_read_facts_are_true():
    found = doctest.testmod(reading)
    assert (found.attempted, found.failed) == (2, 0)
