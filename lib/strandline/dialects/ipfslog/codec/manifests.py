"""Manifests and access lists of OrbitDB 0.x and core."""

from collections.abc import Mapping
from typing import Any, Final

from cbor2 import CBORTag

from strandline.core.encoding.strict_json import JsonRefused, strict_json
from strandline.dialects.ipfslog.codec.cids import canonical_cid, parse_cid, parse_link
from strandline.dialects.ipfslog.codec.dag_pb import is_dag_pb
from strandline.dialects.ipfslog.types import Cid, Manifest, ManifestKind, record_id

ANYONE: Final = "*"
KEY_PREFIX: Final = "key:"

_DATABASE: Final = frozenset({"name", "type", "accessController"})


def manifest_kind(value: Any) -> ManifestKind | None:
    """Return the kind of manifest of a value, or None: a manifest has exactly the members of its kind.

    - `log`: text `id`, list `heads` (texts in JSON, links in dag-cbor);
    - `database`: texts `name`, `type`, `accessController`, optionally `meta`;
    - `controller` (0.x): text `type`, map `params` with text `address`;
    - `list`: text `type` and texts `write` (core); `write`, the JSON text of such a list (0.x); lists of texts
      `admin`, `write`, `read` (legacy).
    """
    if not isinstance(value, dict):
        return None
    names = value.keys()
    if names == {"id", "heads"}:
        return "log" if isinstance(value["id"], str) and _is_heads(value["heads"]) else None
    if names - {"meta"} == _DATABASE:
        return "database" if all(isinstance(value[name], str) for name in _DATABASE) else None
    if names == {"type", "params"}:
        params = value["params"]
        is_controller = isinstance(value["type"], str) and isinstance(params, dict)
        return "controller" if is_controller and isinstance(params.get("address"), str) else None
    return None if _write_of(value) is None else "list"


def _is_heads(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(head, str | CBORTag) for head in value)


def _write_of(value: Mapping[str, Any]) -> list[str] | None:
    names = value.keys()
    if names == {"type", "write"} and isinstance(value["type"], str):
        return _texts(value["write"])
    if names == {"write"} and isinstance(value["write"], str):
        try:
            return _texts(strict_json(value["write"].encode("utf-8"), numbers="js"))
        except JsonRefused:
            return None
    if names == {"admin", "write", "read"} and all(_texts(value[name]) is not None for name in names):
        keys: list[str] = value["write"]
        return [key if key == ANYONE else KEY_PREFIX + key for key in keys]
    return None


def _texts(value: Any) -> list[str] | None:
    return value if isinstance(value, list) and all(isinstance(item, str) for item in value) else None


def manifest_of(kind: ManifestKind, value: Mapping[str, Any], block: bytes) -> Manifest:
    """Return the manifest in a value of that kind; `block` is the block it was delivered in."""
    digest = record_id(block)
    cid = canonical_cid(digest, "v0" if is_dag_pb(block) else "core2")
    if kind == "log":
        heads = tuple(_head_digest(head) for head in value["heads"])
        return Manifest(digest, block, cid, kind, log_id=value["id"], heads=heads)
    if kind == "database":
        name, type_, access = value["name"], value["type"], value["accessController"]
        return Manifest(digest, block, cid, kind, name=name, type=type_, access=access)
    if kind == "controller":
        return Manifest(digest, block, cid, kind, type=value["type"], access=value["params"]["address"])
    write = tuple(sorted(set(_write_of(value) or ())))
    return Manifest(digest, block, cid, kind, type=value.get("type"), write=write)


def _head_digest(head: Any) -> bytes | None:
    cid = (
        parse_cid(head) if isinstance(head, str) else parse_link(head) if isinstance(head, CBORTag) else None
    )
    return cid.digest if isinstance(cid, Cid) else None
