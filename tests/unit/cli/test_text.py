"""Text from data never moves a terminal and never becomes a formula."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strandline.cli.text import aligned, as_text, csv_cell, hex_dump, printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text, ß and 日本 stay", "plain text, ß and 日本 stay"),
        ("\x1b[2J", r"\x1b[2J"),
        ("a\nb\tc\r", r"a\x0ab\x09c\x0d"),
        ("\x7f\x9b", r"\x7f\x9b"),
        ("\u202eevil\u2066", r"\u202eevil\u2066"),
        ("\u2028\u2029", r"\u2028\u2029"),
        ("\ud800", r"\ud800"),
        ("\x00", r"\x00"),
    ],
)
def test_what_moves_a_terminal_is_escaped(text: str, shown: str) -> None:
    assert printable(text) == shown


@pytest.mark.large
@given(st.text(st.characters(exclude_categories=())))
def test_what_is_printed_holds_no_unsafe_sign(text: str) -> None:
    shown = printable(text)
    assert printable(shown) == shown
    shown.encode("utf-8")
    assert not any(ord(sign) < 0x20 or 0x7F <= ord(sign) < 0xA0 for sign in shown)


@given(st.binary())
def test_any_bytes_can_be_shown(raw: bytes) -> None:
    assert printable(as_text(raw)) == as_text(raw)


@pytest.mark.parametrize("number", ["-1.50", "-5", "-inf", "inf", "nan", "1.50"])
def test_a_number_that_json_has_as_text_is_unchanged_in_csv(number: str) -> None:
    assert csv_cell(number) == number


@pytest.mark.parametrize("text", ["-1-1", "-1.5%", "-1.", "-info", "-", "-1\n", "--1", "-A1", "-\u0661"])
def test_what_is_more_or_less_than_a_number_may_be_a_formula(text: str) -> None:
    assert csv_cell(text) == f"'{text}"


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_a_csv_cell_is_no_formula(start: str) -> None:
    assert csv_cell(f"{start}cmd|' /C calc'!A0") == f"'{start}cmd|' /C calc'!A0"


def test_numbers_and_null_stay_what_they_are_in_csv() -> None:
    assert [csv_cell(value) for value in (-5, 2.5, None, True, "a-b", "")] == [
        "-5",
        "2.5",
        "",
        "true",
        "a-b",
        "",
    ]


def test_a_hex_dump_shows_offset_bytes_and_text() -> None:
    assert hex_dump(b"0123456789abcdef\x00", 9) == [
        "00000000  30 31 32 33 34 35 36 37 38 39 61 62 63 64 65 66  0123456789abcdef",
        "00000010  00                                               .",
    ]
    assert len(hex_dump(bytes(1000), 2)) == 2


def test_a_table_is_aligned_and_numbers_stand_to_the_right() -> None:
    assert aligned(("name", "n"), [("a\n", 5), ("bcdefgh", None), ("", 1234)]) == [
        "name        n",
        "a\\x0a       5",
        "bcdefgh",
        "         1234",
    ]
    assert aligned(("a", "b"), []) == ["a  b"]
