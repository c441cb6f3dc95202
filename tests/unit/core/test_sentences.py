"""Nouns agree with their numbers, and sentences have an end."""

import pytest

from strandline.core.sentences import amount, first_ones, sentence_of


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 rows"), (1, "1 row"), (2, "2 rows"), (1000, "1,000 rows")]
)
def test_a_noun_has_the_form_of_its_number(number, text):
    assert amount(number, "row") == text


def test_a_sentence_ends_like_one():
    assert sentence_of("it is so") == "it is so."
    assert sentence_of("is it?") == "is it?"
    assert sentence_of("it is. ") == "it is."
    assert sentence_of(" ") == ""


def test_a_list_that_is_cut_says_so():
    assert first_ones([], 2) == ""
    assert first_ones([3, 4], 2) == "3, 4"
    assert first_ones(range(10_000), 2) == "0, 1 … and 9,998 more"
