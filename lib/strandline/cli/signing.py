"""The key of checkpoints: from the environment only, so that no option, history or log has it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from strandline.config.layers import SIGNING_KEY
from strandline.core.errors import UsageError
from strandline.core.notes import is_origin

if TYPE_CHECKING:
    from strandline.pipelines.checkpoint_request import Signer


def signer_of(environ: Mapping[str, str], origin: str | None) -> Signer | None:
    """Return the signer with the key of the environment, or None without an origin and a key.

    Raises: UsageError CHECKPOINT_KEY, ORIGIN_INVALID. No message shows the value of the variable.
    """
    from strandline.pipelines.checkpoint_request import Signer

    text = environ.get(SIGNING_KEY, "")
    if origin is None and not text:
        return None
    if origin is None:
        raise UsageError(
            "ORIGIN_INVALID",
            f"{SIGNING_KEY} has a key, but no name to sign with",
            "add --origin with a name of yours, for example --origin example.org/strandline, or unset the variable",
        )
    if not is_origin(origin):
        raise UsageError(
            "ORIGIN_INVALID",
            f"{origin!r} cannot be an origin: it has up to 253 letters, digits and any of . _ ~ / -",
            "name a domain of yours and a path, for example --origin example.org/strandline",
        )
    if re.fullmatch(r"[0-9A-Fa-f]{64}", text) is None:
        raise UsageError(
            "CHECKPOINT_KEY",
            f"{SIGNING_KEY} has no Ed25519 seed, which is 32 bytes in hex",
            "set it from a secret store; `openssl rand -hex 32` makes a new one. Without --origin nothing is signed",
        )
    return Signer(origin, bytes.fromhex(text))
