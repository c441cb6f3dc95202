"""Nouns agree with their numbers."""

import pytest

from strandline.core.amounts import amount


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 rows"), (1, "1 row"), (2, "2 rows"), (1000, "1,000 rows")]
)
def test_a_noun_has_the_form_of_its_number(number, text):
    assert amount(number, "row") == text
