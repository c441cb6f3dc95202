"""Nouns agree with their numbers, and sentences have an end."""

import pytest

from strandline.core.sentences import amount, sentence_of


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
