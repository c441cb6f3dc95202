"""Signatures of entries: Ed25519, strict, over the id or over the text of a message."""

from typing import Final

from strandline.core.ed25519 import is_strong_point, libraries, verify_by_partner, verify_ed25519
from strandline.core.signatures import PARTNER_SAMPLE
from strandline.core.verdict import Finding
from strandline.dialects.devicelog.codec import signed_bytes
from strandline.dialects.devicelog.types import Entry

_SAMPLED_BYTES: Final = 2


def signature_findings(entry: Entry, hmac_key: bytes | None = None) -> tuple[Finding, ...]:
    """Return the findings about the signature of an entry whose form is valid.

    These hold (RFC 8032, the strict form of libsodium):
    - the key of the log is canonical and not of small order (KEY_WEAK);
    - the signature is valid under it: over the id, or over the text of a message without its signature, which goes
      through `hmac_key` if the lake has a network key (SIGNATURE_INVALID).
    - of a sample of entries, OpenSSL says the same (LIBRARY_DISAGREEMENT).
    """
    if not is_strong_point(entry.log):
        return (Finding("KEY_WEAK", {"key": entry.log.hex()}),)
    message = signed_message(entry, hmac_key)
    is_valid = verify_ed25519(entry.log, message, entry.sig)
    if int.from_bytes(entry.record_id[:_SAMPLED_BYTES], "big") < PARTNER_SAMPLE:
        is_agreed = verify_by_partner(entry.log, message, entry.sig) is is_valid
        if not is_agreed:
            return (Finding("LIBRARY_DISAGREEMENT", libraries()),)
    return () if is_valid else (Finding("SIGNATURE_INVALID", {"key": entry.log.hex()}),)


def signed_message(entry: Entry, hmac_key: bytes | None = None) -> bytes:
    """Return the bytes that the log of an entry signed."""
    return entry.record_id if entry.raw is None else signed_bytes(entry.raw.decode("utf-8"), hmac_key)
