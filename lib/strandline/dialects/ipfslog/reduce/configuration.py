"""The configuration of a log, its store and its write list: from the operator's file or from its manifests."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias

from strandline.core.encoding.strict_json import JsonRefused, strict_json
from strandline.core.errors import UsageError
from strandline.core.limits import MAX_OPTION_VALUES
from strandline.dialects.ipfslog.codec import ANYONE, KEY_PREFIX, dag_cbor, parse_cid
from strandline.dialects.ipfslog.reduce.stores import STORES, Store
from strandline.dialects.ipfslog.types import Cid, Entry, Manifest

Whence: TypeAlias = Literal["config", "manifest", "mutable", "none", "snapshot"]

_ADDRESS: Final = re.compile(r"/orbitdb/([^/]+)(?:/.*)?", re.DOTALL)
_IPFS: Final = "/ipfs/"
_IMMUTABLE: Final = frozenset({"ipfs", "legacy-ipfs"})
_OTHER_CONTROLLERS: Final = "/orbitdb/"
_MAX_STATED_CHARS: Final = 4_096
"""The longest text with a manifest's write list that the state of each log repeats. Any number of logs can name it."""


@dataclass(frozen=True)
class LogConfiguration:
    """Store and write list of a log, a parameter of its reduction.

    `write` has ids of identities, `key:<hex>` or `*`, sorted and distinct. `depends_on` are the digests of the
    manifests that were followed, with that of the first missing one. `whence` is `snapshot` for a log with pruned
    entries whose file or manifests now differ from the snapshot: these have no effect.
    """

    store: Store = "none"
    write: tuple[str, ...] = (ANYONE,)
    whence: Whence = "none"
    depends_on: tuple[bytes, ...] = ()

    @property
    def reducer_version(self) -> str:
        """The version of reducer and configuration: with equal versions, equal sets have equal states."""
        encoded = dag_cbor({"store": self.store, "write": sorted(set(self.write))})
        return f"ipfslog-1:{hashlib.sha256(encoded).hexdigest()[:16]}"

    @property
    def as_json(self) -> str:
        """The configuration as stored with the state: compact JSON with sorted keys, ASCII.

        Instead of a manifest's list that makes it long, `write_list` has the digest of the manifest.
        """
        told = _as_json({"store": self.store, "whence": self.whence, "write": sorted(set(self.write))})
        if self.whence != "manifest" or len(told) <= _MAX_STATED_CHARS:
            return told
        return _as_json({"store": self.store, "whence": self.whence, "write_list": self.depends_on[-1].hex()})

    def may_write(self, entry: Entry) -> bool:
        """Return whether the write list has the entry's writer or its key."""
        return not self._listed.isdisjoint((ANYONE, entry.writer, KEY_PREFIX + entry.key))

    @cached_property
    def _listed(self) -> frozenset[str]:
        return frozenset(self.write)


def _as_json(members: Mapping[str, Any]) -> str:
    return json.dumps(members, sort_keys=True, separators=(",", ":"))


def list_digest(write: Iterable[str]) -> bytes:
    """Return SHA-256 of a write list, ascending and distinct: of each text its length in bytes, `:` and its UTF-8.

    No block of a manifest has this digest: these bytes are empty or begin with a digit.
    """
    texts = (text.encode("utf-8") for text in sorted(set(write)))
    return hashlib.sha256(b"".join(b"%d:%b" % (len(text), text) for text in texts)).digest()


def parse_log_config(raw: bytes, name: str) -> Mapping[str, LogConfiguration]:
    """Return the configurations in an operator's file, by log id; `name` is the file name for messages.

    Form: `{"logs": [{"id": .., "store": .., "write": [..]}]}`; without `write` everyone may write.

    Raises:
        UsageError: `LOG_CONFIG_INVALID`, naming file and member.
    """
    try:
        document = strict_json(raw, most_values=MAX_OPTION_VALUES)
    except JsonRefused as refused:
        raise _invalid(name, f"is not strict JSON ({refused.cause})") from None
    if (
        not isinstance(document, dict)
        or document.keys() != {"logs"}
        or not isinstance(document["logs"], list)
    ):
        raise _invalid(name, "must be an object with exactly one member: logs, a list")
    found: dict[str, LogConfiguration] = {}
    for position, each in enumerate(document["logs"]):
        log_id, configuration = _configured(name, f"logs[{position}]", each)
        if log_id in found:
            raise _invalid(name, f"names the log of logs[{position}].id twice")
        found[log_id] = configuration
    return found


def _configured(name: str, member: str, each: Any) -> tuple[str, LogConfiguration]:
    if not isinstance(each, dict) or not {"id", "store"} <= each.keys() <= {"id", "store", "write"}:
        raise _invalid(name, f"must have id, store and optionally write in {member}, and no other member")
    if not isinstance(each["id"], str) or not each["id"]:
        raise _invalid(name, f"must have a text that is not empty in {member}.id")
    store = STORES.get(each["store"]) if isinstance(each["store"], str) else None
    if store is None:
        raise _invalid(name, f"names an unknown store in {member}.store")
    write = each.get("write", [ANYONE])
    if not isinstance(write, list) or not all(isinstance(item, str) for item in write):
        raise _invalid(name, f"must have a list of texts in {member}.write")
    return each["id"], LogConfiguration(store, tuple(sorted(set(write))), "config")


def _invalid(name: str, problem: str) -> UsageError:
    stores = ", ".join(STORES)
    return UsageError(
        "LOG_CONFIG_INVALID",
        f"{name} {problem}.",
        f'Write {{"logs": [{{"id": .., "store": .., "write": [..]}}]}}; stores are {stores}.',
    )


def configuration_of(
    log_id: str, config: Mapping[str, LogConfiguration], manifests: Iterable[Manifest]
) -> LogConfiguration:
    """Return store and write list of a log: from `config`, else from the manifests that its id commits to.

    `/orbitdb/<CID>` and `/orbitdb/<CID>/<name>` name a database manifest. Its access address (a content address, with
    or without `/ipfs/` before it) names a list, or a controller of type `ipfs` or `legacy-ipfs` that names a list.
    Access controllers with changing rights give: everyone may write. If a manifest of the chain is not stored, or for
    another form of id: store `none`, everyone.
    """
    if log_id in config:
        return config[log_id]
    by_id = {manifest.record_id: manifest for manifest in manifests}
    digest = database_digest(log_id)
    if digest is None:
        return LogConfiguration()
    database = by_id.get(digest)
    if database is None or database.kind != "database":
        return LogConfiguration(depends_on=(digest,))
    return _by_manifests(database, by_id)


def database_digest(log_id: str) -> bytes | None:
    """Return the digest of the database manifest that a log id commits to, or None if it commits to none."""
    address = _ADDRESS.fullmatch(log_id)
    cid = parse_cid(address.group(1)) if address else None
    return cid.digest if isinstance(cid, Cid) else None


def access_digest(access: str | None) -> bytes | None:
    """Return the digest in an access address (a content address, with or without `/ipfs/` before it), or None."""
    cid = parse_cid((access or "").removeprefix(_IPFS))
    return cid.digest if isinstance(cid, Cid) else None


def _by_manifests(database: Manifest, by_id: Mapping[bytes, Manifest]) -> LogConfiguration:
    followed = [database.record_id]
    store = STORES.get(database.type or "", "none")
    access = database.access or ""
    if access.startswith(_OTHER_CONTROLLERS):
        return _of_store(store, (ANYONE,), "mutable", followed)
    # A controller names a list; no chain is longer.
    for _ in range(2):
        digest = access_digest(access)
        if digest is None:
            break
        followed.append(digest)
        manifest = by_id.get(digest)
        if manifest is None:
            break
        if manifest.kind == "list":
            return _of_store(store, manifest.write or (), "manifest", followed)
        if manifest.kind != "controller":
            break
        if manifest.type not in _IMMUTABLE:
            return _of_store(store, (ANYONE,), "mutable", followed)
        access = manifest.access or ""
    return LogConfiguration(depends_on=tuple(followed))


def _of_store(
    store: Store, write: tuple[str, ...], whence: Whence, followed: list[bytes]
) -> LogConfiguration:
    if store == "none":
        return LogConfiguration(depends_on=tuple(followed))
    return LogConfiguration(store, write, whence, tuple(followed))
