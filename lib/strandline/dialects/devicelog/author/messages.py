"""Writing messages of Scuttlebutt feeds."""

from __future__ import annotations

from typing import Any

from strandline.core.ed25519 import Ed25519Key
from strandline.dialects.devicelog.codec import (
    author_name,
    message_name,
    signature_name,
    signed_bytes,
    ssb_text,
)


def ssb_sign(
    seed: bytes,
    previous: bytes | None,
    sequence: int,
    timestamp: float,
    content: object,
    key: bytes | None = None,
) -> dict[str, Any]:
    """Return the value of a signed message, whose line is its JSON.

    `previous` is the id of the message before it (`ssb_id` of its text), None for the first one, whose sequence is 1.
    `key` are the 32 bytes of the network key, if there is one. A message that a reader would refuse is signed, too.

    Raises:
        ValueError: a seed that is not 32 bytes.

    >>> value = ssb_sign(bytes([3]) * 32, None, 1, 1, {"type": "post", "text": "hello"})
    >>> value["author"], value["sequence"]
    ('@7UkoxijRwsbq6QM4kFmVYSlZJzpcY/k2NsFGFKyHN9E=.ed25519', 1)
    """
    own = Ed25519Key(seed)
    value: dict[str, Any] = {
        "previous": None if previous is None else message_name(previous), "author": author_name(own.public),
        "sequence": sequence, "timestamp": timestamp, "hash": "sha256", "content": content,
    }  # fmt: skip
    text = ssb_text({**value, "signature": ""})
    return {**value, "signature": signature_name(own.sign(signed_bytes(text, key)))}
