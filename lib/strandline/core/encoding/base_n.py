"""Base58btc, base32, base16 and base64: writers, and strict readers that accept only one encoding of bytes."""

import base64
import binascii
from typing import Final

MAX_BASE58_CHARS: Final = 128

_ALPHABET: Final = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
# Two digits at a time: a quarter of the large divisions and half of the look-ups.
_PAIRS: Final = [a + b for a in _ALPHABET for b in _ALPHABET]
_PAIR_VALUES: Final = {pair: value for value, pair in enumerate(_PAIRS)}
_VALUES: Final = {digit: value for value, digit in enumerate(_ALPHABET)}
_PAIR: Final = 58**2
_CHUNK: Final = _PAIR**5


def base58(data: bytes) -> str:
    """Return data in base58btc, without a multibase prefix; each leading zero byte is a `1`."""
    number = int.from_bytes(data, "big")
    pairs, text = _PAIRS, ""
    while number:
        number, e = divmod(number, _CHUNK)
        # Ten digits of a number that fits a machine word, unrolled: this is the hot path of every content address.
        a, e = divmod(e, _PAIR**4)
        b, e = divmod(e, _PAIR**3)
        c, e = divmod(e, _PAIR**2)
        d, e = divmod(e, _PAIR)
        text = f"{pairs[a]}{pairs[b]}{pairs[c]}{pairs[d]}{pairs[e]}{text}"
    return "1" * (len(data) - len(data.lstrip(b"\x00"))) + text.lstrip("1")


def parse_base58(text: str) -> bytes | None:
    """Return the bytes of a text in base58btc; None for other characters or more than 128.

    Bytes have only one encoding. The length is bounded, since decoding takes quadratic time.
    """
    if len(text) > MAX_BASE58_CHARS:
        return None
    number = 0
    try:
        if len(text) % 2:
            number = _VALUES[text[0]]
        for at in range(len(text) % 2, len(text), 2):
            number = number * _PAIR + _PAIR_VALUES[text[at : at + 2]]
    except KeyError:
        return None
    zeros = len(text) - len(text.lstrip("1"))
    return b"\x00" * zeros + number.to_bytes((number.bit_length() + 7) // 8, "big")


def base32(data: bytes) -> str:
    """Return data in lower-case base32 (RFC 4648, section 6), without padding and multibase prefix."""
    return base64.b32encode(data).decode("ascii").rstrip("=").lower()


def parse_base32(text: str) -> bytes | None:
    """Return the bytes of a text in lower-case base32 without padding, or None."""
    try:
        data = base64.b32decode(text.upper().encode("ascii") + b"=" * (-len(text) % 8))
    except (binascii.Error, UnicodeEncodeError):
        return None
    return data if base32(data) == text else None


def parse_base16(text: str) -> bytes | None:
    """Return the bytes of a text in lower-case hex, or None."""
    try:
        data = bytes.fromhex(text)
    except ValueError:
        return None
    return data if data.hex() == text else None


def parse_base64(text: str) -> bytes | None:
    """Return the bytes of a text in base64 (RFC 4648, section 4) with optional padding, or None."""
    digits = text.rstrip("=")
    try:
        data = base64.b64decode(digits.encode("ascii") + b"=" * (-len(digits) % 4), validate=True)
    except (binascii.Error, UnicodeEncodeError):
        return None
    encoded = base64.b64encode(data).decode("ascii")
    return data if text in (encoded, encoded.rstrip("=")) else None
