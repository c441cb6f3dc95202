"""Texts of JSON, valid and nearly valid, and what JavaScript makes of them: `tests/vectors/js_json`.

`PYTHONPATH=tests python -m support.js_texts` writes the vectors again; it needs node.
"""

import hashlib
import json
import random
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from strandline.core.encoding.js_json import stringified
from strandline.core.encoding.strict_json import JsonRefused, strict_json

GROUPS = 100
TEXTS_OF_A_GROUP = 100
"""The texts of a group have one hash in the vectors."""
PROGRAM = Path(__file__).parents[1] / "node" / "stringify.js"
VECTORS = Path(__file__).parents[1] / "vectors" / "js_json" / "cases.json"

_NAMES = (
    '"a"', '"type"', '"0"', '"1"', '"9"', '"10"', '"01"', '"-1"', '"1.0"', '"4294967294"', '"4294967295"',
    '"99999999999"', '"__proto__"', '"constructor"', '""', '"\\u0061"', '"\\u0030"', '"é"', '"☃"', '"😀"',
    '"\\ud83d"', '"\\ud83d\\ude00"', '"\\n"', '"٣"', '"²"',
)  # fmt: skip
_PIECES = (
    "a", " ", "text", "é", "☃", "😀", "\u007f", "\u2028", "\ufeff", "/", "\\/", '\\"', "\\\\", "\\b", "\\f", "\\n",
    "\\r", "\\t", "\\u0000", "\\u001f", "\\u007f", "\\u00E9", "\\ud83d", "\\ude00", "\\ud83d\\ude00", "\\uD83D\\uDE00",
    "\\udfff\\ud800", "\\u2028", "\uffff", "\U0010ffff",
)  # fmt: skip
_ODD_NUMBERS = (
    "0", "-0", "-0.0", "0e5", "1e400", "-1e400", "1e-400", "5e-324", "2.5e-324", "1.7976931348623157e308",
    "1.7976931348623159e308", "9007199254740991", "9007199254740993", "123456789012345680000", "1e21", "1E+21", "1e20",
    "1e-6", "1e-7", "0.000001", "0.0000001", "100000000000000000000000", "0.1", "4.35", "1e23", "2e-7",
)  # fmt: skip
_SPACES = ("", "", "", "", " ", "\n", "\t ", "\r\n")
_MARKS = (
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"',
    "\\",
    "0",
    "-",
    ".",
    "e",
    "+",
    "n",
    " ",
    "\u00a0",
    "\u0001",
    "\ufeff",
)


class _Chance:
    """Choices by the bits of a generator, which are the same in every version of Python."""

    def __init__(self, seed: int) -> None:
        self._bits = random.Random(seed).getrandbits

    def below(self, count: int) -> int:
        return self._bits(32) % count

    def one(self, choices: tuple[str, ...]) -> str:
        return choices[self.below(len(choices))]

    def digits(self, most: int) -> str:
        return "".join(str(self.below(10)) for _ in range(1 + self.below(most)))


def texts(group: int) -> list[str]:
    """Return the random texts of a group; every fifth is valid JSON with a character more, less or other."""
    chance, found = _Chance(group), []
    for number in range(TEXTS_OF_A_GROUP):
        text = _value(chance, chance.below(6))
        found.append(_damaged(chance, text) if number % 5 == 4 else text)
    return found


def _damaged(chance: _Chance, text: str) -> str:
    at = chance.below(len(text))
    return text[:at] + ("", chance.one(_MARKS))[chance.below(2)] + text[at + chance.below(2) :]


def _value(chance: _Chance, levels: int) -> str:
    space = chance.one(_SPACES)
    kind = chance.below(12 if levels else 4)
    if kind < 2:
        return space + _number(chance) + space
    if kind == 2:
        return '"' + "".join(chance.one(_PIECES) for _ in range(chance.below(6))) + '"'
    if kind == 3:
        return space + chance.one(("true", "false", "null")) + space
    items = [_value(chance, levels - 1) for _ in range(chance.below(6))]
    if kind < 7:
        return space + "[" + ",".join(items) + space + "]"
    members = [chance.one(_NAMES) + space + ":" + item for item in items]
    return "{" + space + ",".join(members) + "}" + space


def _number(chance: _Chance) -> str:
    kind = chance.below(5)
    if kind == 0:
        return chance.one(_ODD_NUMBERS)
    if kind == 1:
        return str(chance.below(100_000))
    sign = ("", "-")[chance.below(2)]
    whole = ("0", "1", "7" + chance.digits(24))[chance.below(3)]
    if kind == 2:
        return sign + whole + "." + chance.digits(20)
    exponent = chance.one(("e", "E", "e+", "e-")) + str(chance.below(330))
    return sign + whole + ("", "." + chance.digits(18))[chance.below(2)] + exponent


def powers() -> list[str]:
    """Numbers at every power of ten that a double has, and beyond: one digit, the digits below it, seventeen digits."""
    found = []
    for power in range(-326, 311):
        found += [f"1e{power}", f"-9.999999999999999e{power}", f"3.1234567890123457e{power}"]
    return found


def written_here(text: str) -> list[str] | None:
    """Return a text as this package writes it again, with indent 2 and without; None if it reads none."""
    try:
        value = strict_json(
            text.encode(), numbers="parsed", nesting=128, duplicates="last", surrogates="keep"
        )
    except JsonRefused:
        return None
    return [stringified(value, 2), stringified(value)]


def written_by_node(given: Iterable[str]) -> list[list[str] | None]:
    """Return the same as node writes it."""
    lines = "".join(text.encode().hex() + "\n" for text in given)
    done = subprocess.run(["node", str(PROGRAM)], input=lines, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.split("\n") if line]


def hash_of(written: Iterable[list[str] | None]) -> str:
    """Return the SHA-256 of what the texts of a group are written as."""
    return hashlib.sha256("\n".join(map(json.dumps, written)).encode()).hexdigest()


def _write() -> None:
    numbers = powers()
    cases = {
        "numbers": {
            text: pair[1] for text, pair in zip(numbers, written_by_node(numbers), strict=True) if pair
        },
        "hashes": [hash_of(written_by_node(texts(group))) for group in range(GROUPS)],
    }
    VECTORS.write_text(json.dumps(cases, indent=0) + "\n", "utf-8")


if __name__ == "__main__":
    sys.exit(_write())
