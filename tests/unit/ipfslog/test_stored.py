"""Blocks as nodes keep them: names, keys and bytes tell addresses, and nothing that is read raises."""

import base64
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strandline.core.encoding.varint import varint
from strandline.dialects.ipfslog.codec import dag_cbor, dag_pb_block, section
from strandline.dialects.ipfslog.codec.stored import (
    UNPACKING,
    address_of,
    heads_of,
    multihash_of,
    section_of_entry,
    section_of_file,
)

DIGEST = hashlib.sha256(b"x").digest()
SHA256 = b"\x12\x20" + DIGEST
BLAKE3 = b"\x1e\x20" + DIGEST
SHA512 = varint(0x13) + varint(64) + 2 * DIGEST


def spelled(multihash):
    return base64.b32encode(multihash).decode().rstrip("=")


@pytest.mark.parametrize("multihash", [SHA256, BLAKE3, SHA512, b"\x00\x01a"])
def test_a_name_is_a_multihash_in_base32_with_its_prefix_or_without(multihash):
    name = spelled(multihash)
    for each in (name, "B" + name, name.lower(), "b" + name.lower()):
        assert multihash_of(each) == multihash


@pytest.mark.parametrize(
    "name",
    ["", "B", "notes", "readme.txt", "SHARDING", spelled(SHA256)[:-1], spelled(SHA256) + "A", spelled(SHA256[:-1]),
     "b" + spelled(SHA256), spelled(SHA256) + "======", "put-1234567", spelled(b"\x12\x00"), "é" * 58],
)  # fmt: skip
def test_another_name_is_none(name):
    assert multihash_of(name) is None
    assert section_of_file(name, b"x") is None


@pytest.mark.parametrize(
    ("block", "codec"),
    [
        (dag_cbor({"v": 2}), b"\x01\x71"),
        (dag_cbor(b"bytes"), b"\x01\x71"),
        (dag_cbor({"v": 2}) + b"more", b"\x01\x71"),
        (b"\xbf\xff", b"\x01\x71"),
        (dag_pb_block(b"{}"), b""),
        (b"\x12\x00", b""),
        (b"\x0a", b"\x01\x55"),
        (b"", b"\x01\x55"),
        (dag_cbor("text"), b"\x01\x55"),
        (dag_cbor([1]), b"\x01\x55"),
        (b"\xa1", b"\x01\x55"),
        (b"plain file", b"\x01\x55"),
    ],
)
def test_the_bytes_of_a_block_tell_its_codec(block, codec):
    assert address_of(SHA256, block) == codec + SHA256
    assert address_of(BLAKE3, block) == (codec or b"\x01\x70") + BLAKE3


def test_a_key_is_an_address_or_a_slash_and_a_name():
    block = dag_cbor({"v": 2})
    kept = section(b"\x01\x71" + SHA256, block)
    for key in (f"/B{spelled(SHA256)}", f"/{spelled(SHA256)}"):
        assert section_of_entry(key.encode(), block) == kept
    text = "b" + base64.b32encode(b"\x01\x71" + SHA256).decode().rstrip("=").lower()
    assert section_of_entry(text.encode(), block) == kept
    assert section_of_entry(text.encode(), b"true") is None
    raw = "b" + base64.b32encode(b"\x01\x55" + SHA256).decode().rstrip("=").lower()
    # Its own address says what it is, whatever its bytes are.
    assert section_of_entry(raw.encode(), block) == section(b"\x01\x55" + SHA256, block)


@pytest.mark.large
@given(st.binary(max_size=80), st.binary(max_size=80), st.text(max_size=80))
def test_nothing_that_a_node_keeps_raises(key, value, name):
    for made in (
        section_of_entry(key, value),
        section_of_file(name, value),
        section_of_entry(name.encode("utf-8", "replace"), value),
    ):
        assert made is None or made.endswith(value)
    assert isinstance(heads_of(value), list)
    assert UNPACKING.heads(heads_of(value))
