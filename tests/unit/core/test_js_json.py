"""JSON as JavaScript writes it: what node writes is in the vectors, so that no node is needed here."""

import json

import pytest

from strandline.core.encoding.js_json import (
    MAX_LEVELS,
    js_text,
    property_order,
    stringified,
    utf16_units,
)
from strandline.core.encoding.strict_json import JsonRefused, strict_json
from support import js_texts
from support.effort import peak_bytes, seconds_of

VECTORS = json.loads(js_texts.VECTORS.read_text("utf-8"))


def parsed(text: str) -> object:
    return strict_json(text.encode(), numbers="parsed", duplicates="last", surrogates="keep", nesting=128)


def test_numbers_are_written_like_javascript_at_every_power_of_ten() -> None:
    numbers = VECTORS["numbers"]
    assert list(numbers) == js_texts.powers()
    assert {text: stringified(parsed(text)) for text in numbers} == numbers


@pytest.mark.large
@pytest.mark.parametrize("group", range(20))
def test_a_random_text_is_written_like_javascript(group: int) -> None:
    assert js_texts.hash_of(map(js_texts.written_here, js_texts.texts(group))) == VECTORS["hashes"][group]


@pytest.mark.large
def test_ten_thousand_random_texts_are_written_like_javascript() -> None:
    found = [
        js_texts.hash_of(map(js_texts.written_here, js_texts.texts(group)))
        for group in range(js_texts.GROUPS)
    ]
    assert found == VECTORS["hashes"]


@pytest.mark.large
def test_the_random_texts_hold_what_they_are_for() -> None:
    every = [text for group in range(20) for text in js_texts.texts(group)]
    written = [js_texts.written_here(text) for text in every]
    assert 100 < written.count(None) < 1000
    for sign in ("\\\\ud83d", "1e+", "e-", "null", "4294967294", "☃", "\\\\u001f", "{}", "[]"):
        assert sum(each is not None and sign in each[0].replace("\\", "\\\\") for each in written) > 5, sign


@pytest.mark.parametrize(
    ("names", "ordered"),
    [
        (["b", "a"], ["b", "a"]),
        (["b", "10", "a", "9", "0"], ["0", "9", "10", "b", "a"]),
        (["x", "4294967295", "4294967294"], ["4294967294", "x", "4294967295"]),
        (["01", "-1", "1.0", "1e1", "٣", "²", "", "1"], ["1", "01", "-1", "1.0", "1e1", "٣", "²", ""]),
        (["0", "00", "9" * 5000], ["0", "00", "9" * 5000]),
    ],
)
def test_array_indexes_come_first_and_ascend(names: list[str], ordered: list[str]) -> None:
    assert property_order(names) == ordered


@pytest.mark.parametrize(
    ("text", "written", "units"),
    [
        ("\ud83d", '"\\ud83d"', 1),
        ("\ud83d\ude00", '"😀"', 2),
        ("\ude00\ud83d", '"\\ude00\\ud83d"', 2),
        ("😀\udfff", '"😀\\udfff"', 3),
        ("\x7f\u2028é", '"\x7f\u2028é"', 3),
        ("\x00\b\t\n\v\f\r\x1f", '"\\u0000\\b\\t\\n\\u000b\\f\\r\\u001f"', 8),
    ],
)
def test_surrogates_without_partner_are_escaped(text: str, written: str, units: int) -> None:
    assert js_text(text) == written
    assert utf16_units(text) == units


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2**53 + 1, "9007199254740992"),
        (10**21, "1e+21"),
        (-(10**400), "null"),
        (float("inf"), "null"),
        (float("nan"), "null"),
        (-0.0, "0"),
        (True, "true"),
        ({"a": [], "b": {}}, '{"a":[],"b":{}}'),
    ],
)
def test_values_of_python_are_written_as_doubles(value: object, text: str) -> None:
    assert stringified(value) == text


@pytest.mark.parametrize("value", [b"", (), {1: 2}, {"a": {1}}, [object()]])
def test_what_is_no_json_is_refused(value: object) -> None:
    with pytest.raises(ValueError):
        stringified(value)


def test_a_value_that_holds_itself_is_refused() -> None:
    value: list[object] = []
    value.append(value)
    with pytest.raises(ValueError):
        stringified(value, 2)
    for _ in range(MAX_LEVELS - 1):
        value = [value]
    deep: list[object] = []
    for _ in range(MAX_LEVELS):
        deep = [deep]
    assert len(stringified(deep)) == 2 * (MAX_LEVELS + 1)


def test_a_number_of_any_length_is_a_double_or_infinite_when_parsed() -> None:
    assert parsed("9" * 100_000) == float("inf")
    assert parsed("1" + "0" * 50_000 + "e-50000") == 1
    assert type(parsed("1.0")) is int
    with pytest.raises(JsonRefused) as refused:
        strict_json(b"1e400", numbers="js")
    assert refused.value.cause == "number"


def hostile(size: int) -> dict[str, str]:
    return {
        "deep": "[" * 120 + ",".join("1" * (size // 2)) + "]" * 120,
        "one number": "9" * size,
        "escapes": '"' + "\\ud800" * (size // 6) + '"',
        "indexes": "{" + ",".join(f'"{each}":0' for each in range(size // 12, 0, -1)) + "}",
        "long indexes": '{"' + "9" * size + '":0}',
        "one name": "{" + ",".join('"a":0' for _ in range(size // 6)) + "}",
    }


@pytest.mark.large
@pytest.mark.parametrize("case", list(hostile(12)))
def test_hostile_texts_take_linear_time(case: str) -> None:
    def seconds(text: str) -> float:
        return seconds_of(lambda: stringified(parsed(text), 2))

    small, large = hostile(1 << 14)[case], hostile(1 << 17)[case]
    assert seconds(large) < 4 * 8 * seconds(small) + 0.01


@pytest.mark.large
def test_a_deep_text_is_written_in_bounded_memory() -> None:
    value = parsed(hostile(1 << 15)["deep"])
    text = stringified(value, 2)
    assert len(text) < (1 << 15) * 122 * 2
    assert peak_bytes(lambda: stringified(value, 2)) < 3 * len(text)
