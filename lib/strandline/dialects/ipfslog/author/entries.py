"""Signing entries: the same key and fields give the same bytes, signature and content address everywhere."""

from collections.abc import Sequence
from typing import Any

from strandline.core.encoding.cbor_heads import has_more_items
from strandline.core.errors import UsageError
from strandline.core.limits import MAX_VALUES
from strandline.dialects.ipfslog.author.identity import Identity
from strandline.dialects.ipfslog.codec import (
    canonical_cid,
    dag_cbor,
    identity_value,
    js_value,
    json_fitness,
    parse_cid,
    signed_digest_v0,
    signed_json,
    stored_entry,
)
from strandline.dialects.ipfslog.types import (
    MAX_BLOCK_BYTES,
    MAX_ID_BYTES,
    SATURATED_TIME,
    Cid,
    Entry,
    Variant,
    record_id,
)
from strandline.dialects.ipfslog.verify import fits_variant


def sign_entry(
    identity: Identity,
    log_id: str,
    payload: Any,
    *,
    time: int,
    next: Sequence[str] = (),  # noqa: A002 - the format's own word
    refs: Sequence[str] = (),
    variant: Variant = "v2",
) -> Entry:
    """Return the entry signed by `identity`. `next` and `refs` are content addresses, in that order.

    The payload is a JSON value; in core2 it may also contain `bytes`. Use v0 only for test data: its signature does
    not cover the payload, and `strict` accepts no v0 entry.

    Raises:
        UsageError: `IDENTITY_TYPE_UNSUPPORTED`, the identity's type does not fit the variant.
        ValueError: the payload is not such a value, `next` or `refs` has something else than content addresses, id or
            time is out of range, or the block would have more bytes or values than a reader takes.
    """
    _check(identity, log_id, time, variant)
    links = {"next": [_cid(cid) for cid in next], "refs": [_cid(cid) for cid in refs]}
    value = js_value(payload)
    if variant != "core2" and json_fitness(value) == "beyond":
        raise ValueError(f"a payload of {variant} cannot contain bytes")
    fields: dict[str, Any] = {
        "v": {"v0": 0, "v1": 1}.get(variant, 2),
        "id": log_id,
        "key": identity.public_key,
        "next": list(next),
        "refs": list(refs),
        "clock": {"id": identity.public_key, "time": time},
        "payload": value,
        "identity": identity.cid if variant == "core2" else identity_value(identity.record),
    }
    fields["sig"] = _signature(identity, fields, variant).hex()
    block = stored_entry(
        variant, fields, {name: [cid.raw for cid in cids] for name, cids in links.items()}
    ).block
    _check_size(block)
    digest = record_id(block)
    return Entry(
        record_id=digest,
        cid=canonical_cid(digest, variant),
        variant=variant,
        log_id=log_id,
        key=identity.public_key,
        sig=fields["sig"],
        clock_time=time,
        clock_id=identity.public_key,
        writer=identity.public_key if variant == "v0" else identity.id,
        identity_digest=None if variant == "v0" else identity.record.digest,
        block=block,
        next=tuple(cid.digest for cid in links["next"]),
        refs=tuple(cid.digest for cid in links["refs"]) if variant in ("v2", "core2") else (),
        payload=value,
        flags=(),
    )


def _check(identity: Identity, log_id: str, time: int, variant: Variant) -> None:
    """Check that the identity can sign this variant, and that id and time are in range. Raises: as `sign_entry`."""
    if variant != "v0" and not fits_variant(identity.record, variant):
        raise UsageError(
            "IDENTITY_TYPE_UNSUPPORTED",
            f"An identity of type {identity.record.type} cannot sign {variant}.",
            "Create it with type publickey for core2, or orbitdb for v1 and v2.",
        )
    if not 1 <= len(log_id.encode("utf-8")) <= MAX_ID_BYTES:
        raise ValueError(f"a log id has 1 to {MAX_ID_BYTES} bytes")
    if not 0 <= time <= SATURATED_TIME:
        raise ValueError("a time is an integer of 0 to 2^53-1")


def _check_size(block: bytes) -> None:
    if len(block) > MAX_BLOCK_BYTES:
        raise ValueError(f"the block of an entry has at most {MAX_BLOCK_BYTES:,} bytes")
    if has_more_items(block, MAX_VALUES):
        raise ValueError(f"the block of an entry has at most {MAX_VALUES:,} values")


def _cid(text: str) -> Cid:
    cid = parse_cid(text)
    if isinstance(cid, str):
        raise ValueError(f"{text!r} is not the content address of an entry")
    return cid


def _signature(identity: Identity, fields: dict[str, Any], variant: Variant) -> bytes:
    if variant == "v0":
        return identity.signing_key.sign_digest(signed_digest_v0(fields["id"]))
    if variant == "core2":
        signed = {name: fields[name] for name in ("v", "id", "next", "refs", "clock", "payload")}
        return identity.signing_key.sign(dag_cbor(signed))
    plain = json_fitness(fields["payload"]) == "plain"
    text = signed_json(fields, fields["next"], fields["refs"], plain=plain)
    return identity.signing_key.sign(text.encode("utf-8"))
