"""Makes text from data safe to show."""

import re
import unicodedata
from collections.abc import Sequence

# Characters that move a terminal or reverse text although their category is not a control's.
_LINE_SEPARATORS = frozenset("\u2028\u2029")
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_CSV_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NEGATIVE_NUMBER = re.compile(r"-(?:[0-9]+(?:\.[0-9]+)?|inf)")
"""A decimal, or what JSON has no number for: JSON values have both as text."""
_HEX_DUMP_WIDTH = 16


def printable(text: object) -> str:
    """Return `text` with unsafe characters as `\\xNN` or `\\uNNNN`.

    Unsafe are control and bidi characters, line separators and lone surrogates. A backslash stays. All data that goes
    to a terminal or a log passes through this function.
    """
    shown = str(text)
    if shown.isascii() and shown.isprintable():
        return shown
    return "".join(_escaped(char) if _is_unsafe(char) else char for char in shown)


def _is_unsafe(char: str) -> bool:
    return char in _BIDI or char in _LINE_SEPARATORS or unicodedata.category(char) in ("Cc", "Cs")


def _escaped(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def csv_cell(value: object) -> str:
    """Return `value` as the text of a CSV cell that no spreadsheet reads as a formula; null is empty.

    A number is unchanged, also as text; any other text that starts with one of = + - @ TAB CR gets a ' in front.
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    text = str(value)
    return f"'{text}" if text.startswith(_CSV_FORMULA) and not _NEGATIVE_NUMBER.fullmatch(text) else text


def as_text(raw: bytes) -> str:
    """Return `raw` as text; escapes bytes that are not UTF-8, unsafe characters and line ends."""
    return printable(raw.decode("utf-8", errors="backslashreplace"))


def hex_dump(raw: bytes, rows: int) -> list[str]:
    """Return the first `rows` lines of a hex dump: offset, 16 bytes, their ASCII."""
    lines = []
    for start in range(0, min(len(raw), rows * _HEX_DUMP_WIDTH), _HEX_DUMP_WIDTH):
        part = raw[start : start + _HEX_DUMP_WIDTH]
        shown = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in part)
        lines.append(f"{start:08x}  {part.hex(' '):<47}  {shown}")
    return lines


def aligned(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Return a table as lines: header, then rows; columns are as wide as their widest cell, numbers right-aligned."""
    cells = [["" if value is None else printable(value) for value in row] for row in rows]
    numeric = [
        bool(rows) and all(isinstance(row[at], int | float) or row[at] is None for row in rows)
        for at in range(len(columns))
    ]
    widths = [max([len(name), *(len(row[at]) for row in cells)]) for at, name in enumerate(columns)]
    return [
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(line, widths, numeric, strict=True)
        ).rstrip()
        for line in [list(columns), *cells]
    ]
