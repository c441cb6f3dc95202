"""Bytes made of bytes: cuts, flips, pieces of other inputs, and pieces that stand a thousand times."""

from collections.abc import Sequence
from random import Random

MAX_BYTES = 1 << 18
MARKS = (
    b"[", b"]", b"{", b"}", b",", b":", b'"', b"\\", b"\\u0000", b"\\ud800", b"\n", b"\r\n", b" ", b"\x00", b"\xff",
    b"\xef\xbb\xbf", b"\xc3", b"\xed\xa0\x80", b"0", b"-0", b"1e400", b"1.0", b"9007199254740993", b"NaN", b"null",
    b"true", b"[]", b"{}", b'""', b"\x80", b"\x9f", b"\xbf", b"\x5f", b"\x7f", b"\xa1\x60\x00", b"\xd8\x2a", b"\xf6",
    b"\xf9\x7e\x00", b"\x1b" + b"\xff" * 8, b"\x9b" + b"\xff" * 8, b"\x5b" + b"\xff" * 8, b"\x80" * 9 + b"\x01",
    b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04", b"@", b"/", b"=", b"z", b"b", b"Qm", b"zdpu", b"*a", b"&a", b"<<:",
    b'"values":[', b'"payload"', b'"v":2', b'"cid":"', b'"data":"', b'"hash":"', b'"journal"', b'"resources"',
)  # fmt: skip


def mutated(chance: Random, corpus: Sequence[bytes]) -> bytes:
    """An input with up to six changes; often none is left of what was right, often nearly all."""
    raw = chance.choice(corpus)
    for _ in range(chance.randint(0, 6)):
        raw = _changed(chance, raw, corpus)[:MAX_BYTES]
    return raw


def _changed(chance: Random, raw: bytes, corpus: Sequence[bytes]) -> bytes:
    begin = chance.randint(0, len(raw))
    # Small pieces are tried more than large ones.
    end = min(len(raw), begin + chance.randint(0, chance.choice((4, 64, len(raw)))))
    piece = raw[begin:end]
    change = chance.choice(("set", "insert", "delete", "flip", "repeat", "flood", "splice", "cut"))
    if change == "set":
        return raw[:begin] + chance.choice(MARKS) + raw[end:]
    if change == "insert":
        return raw[:begin] + chance.choice((*MARKS, bytes([chance.randint(0, 255)]))) + raw[begin:]
    if change == "flip" and begin < len(raw):
        return raw[:begin] + bytes([raw[begin] ^ 1 << chance.randint(0, 7)]) + raw[begin + 1 :]
    if change == "repeat":
        return raw[:end] + piece * chance.randint(1, 9) + raw[end:]
    if change == "flood":
        unit = chance.choice((piece or b",", *MARKS))
        return raw[:end] + unit * (chance.choice((100, 1_000, 10_000)) // len(unit)) + raw[end:]
    if change == "splice":
        other = chance.choice(corpus)
        return raw[:begin] + other[chance.randint(0, len(other)) :]
    return raw[:begin] if change == "cut" else raw[:begin] + raw[end:]
