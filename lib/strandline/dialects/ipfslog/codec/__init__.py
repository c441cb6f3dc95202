"""Bytes to documents and back: content addresses, dag-cbor, JSON as JavaScript has it, CAR, snapshots."""

from strandline.dialects.ipfslog.codec.car import car
from strandline.dialects.ipfslog.codec.cids import (
    CidReason,
    canonical_cid,
    cid_text,
    is_canonical,
    link,
    parse_cid,
    parse_cid_bytes,
    parse_link,
)
from strandline.dialects.ipfslog.codec.dag_cbor import (
    NESTING,
    dag_cbor,
    has_unsafe_integer,
    js_value,
    json_fitness,
    parse_dag_cbor,
)
from strandline.dialects.ipfslog.codec.dag_pb import dag_pb_block, dag_pb_data, is_dag_pb
from strandline.dialects.ipfslog.codec.documents import DocumentFormat, read_documents, without_hash
from strandline.dialects.ipfslog.codec.entries import (
    FIELDS,
    JSON_ORDER,
    StoredEntry,
    go_escaped,
    signed_cbor,
    signed_digest_v0,
    signed_json,
    stored_entry,
)
from strandline.dialects.ipfslog.codec.identities import (
    embedded_block,
    has_identity_members,
    identity_map,
    identity_of,
    identity_value,
    is_identity_shape,
)
from strandline.dialects.ipfslog.codec.json_text import js_number, sorted_json, stringified, utf16
from strandline.dialects.ipfslog.codec.manifests import ANYONE, KEY_PREFIX, manifest_kind, manifest_of

__all__ = [
    "ANYONE",
    "FIELDS",
    "JSON_ORDER",
    "KEY_PREFIX",
    "NESTING",
    "CidReason",
    "DocumentFormat",
    "StoredEntry",
    "canonical_cid",
    "car",
    "cid_text",
    "dag_cbor",
    "dag_pb_block",
    "dag_pb_data",
    "embedded_block",
    "go_escaped",
    "has_identity_members",
    "has_unsafe_integer",
    "identity_map",
    "identity_of",
    "identity_value",
    "is_canonical",
    "is_dag_pb",
    "is_identity_shape",
    "js_number",
    "js_value",
    "json_fitness",
    "link",
    "manifest_kind",
    "manifest_of",
    "parse_cid",
    "parse_cid_bytes",
    "parse_dag_cbor",
    "parse_link",
    "read_documents",
    "signed_cbor",
    "signed_digest_v0",
    "signed_json",
    "sorted_json",
    "stored_entry",
    "stringified",
    "utf16",
    "without_hash",
]
