"""A dialect that leaves a part of the conformance kit out is told which."""

import pytest

from support.conformance import Conformance


class Partial(Conformance):
    """A dialect that brings a corpus and nothing to compare with."""

    dialect = "partial"

    def corpus(self):
        return ()


def test_a_part_of_the_kit_that_a_dialect_leaves_out_is_named():
    with pytest.raises(TypeError) as refused:
        Partial()
    named = {name for name in Conformance.__abstractmethods__ if name in str(refused.value)}
    assert named == {"reference", "assert_admitted", "assert_reduced", "assert_counted"}
