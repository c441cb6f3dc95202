"""Brackets outside texts, by whole passes of bytes: as a slow reader of marks finds them."""

import random

import pytest

from strandline.core.encoding.json_brackets import (
    change,
    closing_step,
    deepest,
    is_closed,
    steps_outside_texts,
)
from strandline.core.encoding.strict_json import JsonRefused, strict_json
from support.slow_json import marks_outside_texts

MARKS = [
    b"[",
    b"]",
    b"{",
    b"}",
    b'"',
    b"\\",
    b"\\\\",
    b'\\"',
    b'""',
    b'"["',
    b"\x01",
    b"\xff",
    b",",
    b"a",
    b"\n",
]


def slow_steps(raw: bytes) -> tuple[list[int], bool]:
    marks = [mark for _, mark in marks_outside_texts(raw, 0, len(raw))]
    steps = [1 if mark in b"[{" else -1 for mark in marks if mark in b"[]{}"]
    return steps, marks.count(b'"') % 2 == 1


@pytest.mark.large
def test_brackets_are_those_of_a_reader_that_takes_a_byte_at_a_time() -> None:
    chance = random.Random(1)
    for case in range(20_000):
        weights = [chance.choice((0, 1, 5)) + case % 2 + 0.1 for _ in MARKS]
        raw = b"".join(chance.choices(MARKS, weights, k=chance.randrange(25)))
        steps, in_text = slow_steps(raw)
        found, ends_in_text = steps_outside_texts(raw)
        assert ([each - 256 * (each > 127) for each in found], ends_in_text) == (steps, in_text), raw

        depths = [sum(steps[:number]) for number in range(len(steps) + 1)]
        assert (change(found), deepest(found)) == (depths[-1], max(depths))
        depth = chance.randrange(1, 5)
        closing = next((number for number, each in enumerate(depths) if each == -depth), 0)
        assert (closing_step(found, depth), is_closed(found, depth)) == (closing, closing > 0), (raw, depth)


def test_a_value_that_another_of_its_name_replaced_has_no_depth() -> None:
    raw = b'{"a":' + b"[" * 5 + b"]" * 5 + b',"a":1}'
    assert strict_json(raw, nesting=3, duplicates="last") == {"a": 1}
    with pytest.raises(JsonRefused) as refused:
        strict_json(raw[:-6] + b'"b":1}', nesting=3, duplicates="last")
    assert refused.value.cause == "depth"


@pytest.mark.parametrize("raw", [b'{"[[[[":"{{{{"}', b'["\\"[[[[[","\\\\",[]]'])
def test_brackets_in_texts_have_no_depth(raw: bytes) -> None:
    strict_json(raw, nesting=2)
    with pytest.raises(JsonRefused) as refused:
        strict_json(b"[[" + raw + b"]]", nesting=2)
    assert refused.value.cause == "depth"
