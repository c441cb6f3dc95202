"""Fuzzing for a moment with the same inputs each time, and all that longer runs have found."""

from random import Random

import pytest

from fuzz.engine import CASES, Found, case_path, error_of, tried, tried_for
from fuzz.targets import TARGETS, Target

FOUND = sorted(CASES.glob("*/*.bin"))


@pytest.mark.large
@pytest.mark.parametrize("target", TARGETS)
def test_two_hundred_mutated_inputs_pass(target: str) -> None:
    assert tried(target, 200, Random(1)) == 200


def test_what_fuzzing_found_passes() -> None:
    assert FOUND
    for path in FOUND:
        assert error_of(path.parent.name, path.read_bytes()) is None, path


def test_what_is_found_is_the_smallest_input_that_does_not_pass(monkeypatch) -> None:
    def check(raw: bytes) -> None:
        assert b"[[" not in raw

    monkeypatch.setitem(TARGETS, "broken", Target(lambda: [b'{"a":1}'], check))
    with pytest.raises(Found) as found:
        tried("broken", 10_000, Random(1))
    assert isinstance(found.value.__cause__, AssertionError)
    assert found.value.raw == b"[["
    assert case_path(found.value).parent == CASES / "broken"


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_half_a_minute_of_mutated_inputs_passes(target: str) -> None:
    assert tried_for(target, 30, Random(target)) > 0
