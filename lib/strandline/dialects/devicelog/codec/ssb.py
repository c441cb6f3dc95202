"""Texts, ids and names of Scuttlebutt messages: the profile `ssb`. The signed bytes are text as JavaScript writes it.

Sources: ssb-keys 8, Scuttlebutt Protocol Guide, ECMA-262 2019 (`JSON.parse`, `JSON.stringify`).
"""

import base64
import hashlib
import hmac
from typing import Any, Final

from strandline.core.encoding.js_json import stringified
from strandline.core.encoding.strict_json import strict_json
from strandline.dialects.devicelog.codec.scalars import parse_padded_base64
from strandline.dialects.devicelog.types import ID_BYTES, SIGNATURE_BYTES

NESTING: Final = 128
HMAC_KEY_BYTES: Final = 32
_SIGNED_BYTES: Final = 32
_SIGNATURE: Final = ',\n  "signature": '
_ID_SUFFIX, _KEY_SUFFIX, _SIG_SUFFIX = ".sha256", ".ed25519", ".sig.ed25519"


def read_value(raw: bytes) -> Any:
    """Return a value as `JSON.parse` reads it: doubles, the last of duplicates, lone surrogates.

    Raises:
        JsonRefused: not one JSON value, or more than 128 levels.
    """
    return strict_json(raw, numbers="parsed", nesting=NESTING, duplicates="last", surrogates="keep")


def ssb_text(value: object) -> str:
    """Return T of a value: `JSON.stringify(value, null, 2)`. Its UTF-8 never has a lone surrogate."""
    return stringified(value, 2)


def ssb_id(text: str) -> bytes:
    """Return the id of a message, 32 bytes: SHA-256 of the low bytes of the UTF-16 code units of T."""
    return hashlib.sha256(ssb_content(text)).digest()


def ssb_content(text: str) -> bytes:
    """Return the bytes whose SHA-256 is the id of a message with the text T."""
    return text.encode("utf-16-le")[::2]


def message_name(record_id: bytes) -> str:
    """Return the id of a message as Scuttlebutt spells it: `%`, base64, `.sha256`."""
    return f"%{_base64(record_id)}{_ID_SUFFIX}"


def author_name(key: bytes) -> str:
    """Return a key as Scuttlebutt spells it: `@`, base64, `.ed25519`."""
    return f"@{_base64(key)}{_KEY_SUFFIX}"


def signature_name(sig: bytes) -> str:
    """Return a signature as Scuttlebutt spells it: base64, `.sig.ed25519`."""
    return f"{_base64(sig)}{_SIG_SUFFIX}"


def signed_bytes(text: str, hmac_key: bytes | None = None) -> bytes:
    """Return the bytes that the author of a message signs: the UTF-8 of T without its last member, the signature.

    With a network key these are the first 32 bytes of HMAC-SHA-512 of that text.
    """
    unsigned = text[: text.rindex(_SIGNATURE)] + "\n}"
    return with_network_key(unsigned.encode("utf-8"), hmac_key)


def with_network_key(message: bytes, hmac_key: bytes | None) -> bytes:
    """Return the bytes that are signed: with a network key its HMAC of the message, else the message."""
    if hmac_key is None:
        return message
    return hmac.digest(hmac_key, message, "sha512")[:_SIGNED_BYTES]


def parse_hmac_key(text: str) -> bytes | None:
    """Return the network key of a text: 32 bytes in padded canonical base64, or None."""
    key = parse_padded_base64(text)
    return key if key is not None and len(key) == HMAC_KEY_BYTES else None


def parse_message_name(text: object) -> bytes | None:
    """Return the id that a name of a message spells, or None."""
    return _parse_name(text, "%", _ID_SUFFIX, ID_BYTES)


def parse_author_name(text: object) -> bytes | None:
    """Return the key that a name of an author spells, or None."""
    return _parse_name(text, "@", _KEY_SUFFIX, ID_BYTES)


def parse_signature_name(text: object) -> bytes | None:
    """Return the bytes of a signature, or None."""
    return _parse_name(text, "", _SIG_SUFFIX, SIGNATURE_BYTES)


def _parse_name(text: object, sigil: str, suffix: str, size: int) -> bytes | None:
    """Return the bytes of a name: sigil, padded canonical base64 of `size` bytes, suffix; or None."""
    if not (isinstance(text, str) and text.startswith(sigil) and text.endswith(suffix)):
        return None
    digits = text[len(sigil) : len(text) - len(suffix)]
    # Its length is known before it is decoded.
    data = parse_padded_base64(digits) if len(digits) == 4 * -(-size // 3) else None
    return data if data is not None and len(data) == size else None


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
