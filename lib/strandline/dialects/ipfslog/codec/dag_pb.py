"""dag-pb blocks that hold nothing but data: how ipfs-log wrote entries as JSON until 2018."""

from typing import Final

from strandline.core.encoding.varint import parse_varint, varint

_DATA_FIELD: Final = 0x0A
_LINK_FIELD: Final = 0x12


def is_dag_pb(block: bytes) -> bool:
    """Return whether a block begins as dag-pb does and goes on, which no dag-cbor item does.

    The bytes decide, never the content address that a block came with: equal digests mean equal bytes.
    """
    return len(block) > 1 and block[0] in (_DATA_FIELD, _LINK_FIELD)


def dag_pb_data(block: bytes) -> bytes | None:
    """Return the data of a block that is `0a uvarint(length) data` and nothing else, or None."""
    if block[:1] != bytes([_DATA_FIELD]):
        return None
    length = parse_varint(block, 1)
    if isinstance(length, str):
        return None
    size, start = length
    return block[start:] if start + size == len(block) else None


def dag_pb_block(data: bytes) -> bytes:
    """Return the dag-pb block that holds `data` and no links."""
    return bytes([_DATA_FIELD]) + varint(len(data)) + data
