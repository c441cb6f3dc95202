"""What a log is reduced as: its store and its write list, as the operator says or as its own id commits to."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class LogConfiguration:
    """Store and write list of a log: a parameter of its reduction.

    `write` holds ids of identities, `key:<hex>` or `*`, ascending and distinct. `depends_on` are the digests of the
    manifests that were followed, that of the first absent one too. `whence` is `snapshot` where entries were pruned
    and file or manifests say something else since: that changes nothing any more.
    """

    store: Store = "none"
    write: tuple[str, ...] = (ANYONE,)
    whence: Whence = "none"
    depends_on: tuple[bytes, ...] = ()

    @property
    def reducer_version(self) -> str:
        """Names the reducer and its configuration: equal versions reduce equal sets to equal states."""
        encoded = dag_cbor({"store": self.store, "write": sorted(set(self.write))})
        return f"ipfslog-1:{hashlib.sha256(encoded).hexdigest()[:16]}"

    @property
    def as_json(self) -> str:
        """The configuration as it is stored with the state: JSON with sorted keys, compact, ASCII."""
        members = {"store": self.store, "whence": self.whence, "write": sorted(set(self.write))}
        return json.dumps(members, sort_keys=True, separators=(",", ":"))

    def may_write(self, entry: Entry) -> bool:
        """Return whether the entry's writer, or its key, is listed."""
        return ANYONE in self.write or entry.writer in self.write or KEY_PREFIX + entry.key in self.write


def parse_log_config(raw: bytes, name: str) -> Mapping[str, LogConfiguration]:
    """Return the configurations that an operator's file gives, by log id; `name` is how errors call the file.

    `{"logs": [{"id": .., "store": .., "write": [..]}]}`; `write` may be left out, then everyone may.

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
        raise _invalid(name, "must be an object with the one member logs, a list")
    found: dict[str, LogConfiguration] = {}
    for position, each in enumerate(document["logs"]):
        log_id, configuration = _configured(name, f"logs[{position}]", each)
        if log_id in found:
            raise _invalid(name, f"names the log of logs[{position}].id twice")
        found[log_id] = configuration
    return found


def _configured(name: str, member: str, each: Any) -> tuple[str, LogConfiguration]:
    if not isinstance(each, dict) or not {"id", "store"} <= each.keys() <= {"id", "store", "write"}:
        raise _invalid(name, f"must have id, store and perhaps write in {member}, and nothing else")
    if not isinstance(each["id"], str) or not each["id"]:
        raise _invalid(name, f"needs a text that is not empty in {member}.id")
    store = STORES.get(each["store"]) if isinstance(each["store"], str) else None
    if store is None:
        raise _invalid(name, f"names a store in {member}.store that does not exist")
    write = each.get("write", [ANYONE])
    if not isinstance(write, list) or not all(isinstance(item, str) for item in write):
        raise _invalid(name, f"needs a list of texts in {member}.write")
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
    """Return store and write list of a log: those of `config`, else of the manifests to which its id commits.

    `/orbitdb/<CID>` and `/orbitdb/<CID>/<name>` name a database manifest; its access address (a content address,
    `/ipfs/` before it or not) a list, or a controller of type `ipfs` or `legacy-ipfs` that names one. Rights that
    change are no list: everyone. A chain that is not held, or another id: store `none`, everyone.
    """
    if log_id in config:
        return config[log_id]
    held = {manifest.record_id: manifest for manifest in manifests}
    digest = database_digest(log_id)
    if digest is None:
        return LogConfiguration()
    database = held.get(digest)
    if database is None or database.kind != "database":
        return LogConfiguration(depends_on=(digest,))
    return _by_manifests(database, held)


def database_digest(log_id: str) -> bytes | None:
    """Return the digest of the database manifest to which a log's id commits, None for an id that commits to none."""
    address = _ADDRESS.fullmatch(log_id)
    cid = parse_cid(address.group(1)) if address else None
    return cid.digest if isinstance(cid, Cid) else None


def access_digest(access: str | None) -> bytes | None:
    """Return the digest of what an access address names (a content address, `/ipfs/` before it or not), or None."""
    cid = parse_cid((access or "").removeprefix(_IPFS))
    return cid.digest if isinstance(cid, Cid) else None


def _by_manifests(database: Manifest, held: Mapping[bytes, Manifest]) -> LogConfiguration:
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
        manifest = held.get(digest)
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
