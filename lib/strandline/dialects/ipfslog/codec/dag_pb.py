"""dag-pb blocks with only data: the form in which ipfs-log wrote entries as JSON until 2018."""

from typing import Final

from strandline.core.encoding.varint import parse_varint, varint

_DATA_FIELD: Final = 0x0A
_LINK_FIELD: Final = 0x12


def is_dag_pb(block: bytes) -> bool:
    """Return whether a block starts as dag-pb and has more than one byte; no dag-cbor item does.

    Only the bytes decide, not the delivered content address: equal digests mean equal bytes.
    """
    return len(block) > 1 and block[0] in (_DATA_FIELD, _LINK_FIELD)


def dag_pb_data(block: bytes) -> bytes | None:
    """Return the data of a block that is exactly `0a uvarint(length) data`, or None."""
    if block[:1] != bytes([_DATA_FIELD]):
        return None
    length = parse_varint(block, 1)
    if isinstance(length, str):
        return None
    size, start = length
    return block[start:] if start + size == len(block) else None


def dag_pb_block(data: bytes) -> bytes:
    """Return the dag-pb block with `data` and no links."""
    return bytes([_DATA_FIELD]) + varint(len(data)) + data
