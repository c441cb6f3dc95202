import sys

import pytest

from strandline.core.encoding.strict_json import JsonRefused, NumberToken, strict_json
from support.json_cases import CASES, bytes_of


def named(text):
    """A text as the id of a case: pytest finds no case again whose id has a backslash."""
    return text.replace("\\", "/")


def levels(value):
    depth = 0
    while isinstance(value, list):
        depth, value = depth + 1, value[0] if value else None
    return depth


@pytest.mark.parametrize("numbers", ["exact", "js"])
@pytest.mark.parametrize("case", CASES, ids=[named(case["name"])[:60] for case in CASES])
def test_a_vector_gives_its_value_or_its_cause(case, numbers):
    expected = case[numbers]
    if "refused" in expected:
        with pytest.raises(JsonRefused) as refused:
            strict_json(bytes_of(case), numbers=numbers)
        assert refused.value.cause == expected["refused"]
        return
    value = strict_json(bytes_of(case), numbers=numbers)
    value = value["a"] if case.get("wrap") else value
    if "int" in expected:
        assert type(value) is int
        assert value == int(expected["int"])
    elif "double" in expected:
        assert type(value) is float
        assert value == float(expected["double"])
    elif "token" in expected:
        assert value == NumberToken(expected["token"])
        assert not isinstance(value, str)
    elif "levels" in expected:
        assert levels(value) == expected["levels"]
    else:
        assert value == expected["value"]


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("power", range(18))
def test_an_integer_of_any_length_is_the_double_of_it_and_an_int_up_to_the_safe_limit(sign, power):
    near = {10**power - 1, 10**power, 10**power + 7, 2**53 - 1, 2**53, 2**53 + 1}
    for number in sorted(sign * each for each in near):
        value = strict_json(str(number).encode(), numbers="js")
        assert (value, type(value)) == (float(number), int if abs(number) < 2**53 else float)


def test_the_last_duplicate_stays_where_duplicates_are_let_through():
    assert strict_json(b'{"a":1,"a":2}', duplicates="last") == {"a": 2}


def test_a_lone_surrogate_stays_where_surrogates_are_kept():
    assert strict_json(b'["\\ud800"]', surrogates="keep") == ["\ud800"]


def test_the_limit_of_nesting_is_the_callers():
    assert strict_json(b"[[]]", nesting=2) == [[]]
    with pytest.raises(JsonRefused, match="depth"):
        strict_json(b"[[[]]]", nesting=2)


def test_objects_are_levels_too_and_width_is_none():
    assert len(strict_json(b"[" + b",".join([b"{}"] * 500) + b"]", nesting=2)) == 500
    with pytest.raises(JsonRefused, match="depth"):
        strict_json(b'{"a":{"a":{}}}', nesting=2)


@pytest.mark.parametrize("tail", [b"", b'{"a":1,"a":1}', b"x", b"NaN"])
def test_the_cause_of_deep_and_wrong_text_does_not_depend_on_the_stack_of_the_caller(tail):
    def cause(frames_above):
        if frames_above:
            return cause(frames_above - 1)
        with pytest.raises(JsonRefused) as refused:
            strict_json(b"[" * 400 + tail)
        return refused.value.cause

    deep = sys.getrecursionlimit() - 400
    assert cause(0) == cause(deep) == "depth"


def test_brackets_after_an_escaped_quote_are_inside_the_text():
    assert strict_json(b'"\\"' + b"[" * 70 + b'"') == '"' + "[" * 70
    with pytest.raises(JsonRefused, match="trailing"):
        strict_json(b'"\\"' + b"[" * 70 + b'" x')
