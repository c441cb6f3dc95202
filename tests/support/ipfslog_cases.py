"""Keys, entries and logs of the ipfslog vectors, signed once for all tests."""

import functools
import hashlib
import json
from pathlib import Path

from strandline.dialects.ipfslog.author import Identity, sign_entry
from strandline.dialects.ipfslog.codec import dag_cbor
from strandline.dialects.ipfslog.types import record_id
from strandline.dialects.ipfslog.verify import verify_identity

TYPES = {"v0": "orbitdb", "v1": "orbitdb", "v2": "orbitdb", "core2": "publickey"}
AUTHORS = {"a": "alice", "b": "bob", "c": "carol"}
LOG = "strand"


@functools.cache
def document():
    path = Path(__file__).parents[1] / "vectors" / "ipfslog" / "cases.json"
    return json.loads(path.read_text(encoding="utf-8"))


def secret(name, role):
    return hashlib.sha256(f"strandline/ipfslog/{name}/{role}".encode()).digest()


@functools.cache
def who(name, variant="v2"):
    """The identity of a name, in the type of a variant."""
    return Identity.from_keys(secret(name, "id"), secret(name, "sign"), TYPES[variant])


@functools.cache
def book():
    """The identities of alice, bob and carol in both types, verified."""
    records = [who(name, variant).record for name in AUTHORS.values() for variant in ("v2", "core2")]
    return {record.digest: verify_identity(record) for record in records}


def entry(payload, variant="v2", name="alice", log_id=LOG, time=1, parents=(), refs=()):
    return sign_entry(
        who(name, variant), log_id, payload, time=time, next=parents, refs=refs, variant=variant
    )


@functools.cache
def chain(log_id, count=6):
    """A log in which each entry follows the one before and overwrites the same key."""
    made = []
    for time in range(1, count + 1):
        parents = [made[-1].cid] if made else []
        made.append(
            entry({"op": "PUT", "key": "a", "value": time}, log_id=log_id, time=time, parents=parents)
        )
    return made


def dag(variant="v2"):
    """The nine entries by name, each with `next` ascending by the last part of k, as the vectors say."""
    made = {}
    for each in document()["dag"]["entries"]:
        parents = sorted((made[name] for name in each["next"]), key=order, reverse=variant == "core2")
        made[each["name"]] = entry(
            each["payload"], variant, AUTHORS[each["name"][0]], time=each["time"],
            parents=[parent.cid for parent in parents],
        )  # fmt: skip
    return made


def order(each):
    return each.clock_time, each.clock_id.encode("utf-16-be"), each.cid


@functools.cache
def lies(variant="v2"):
    """A, B, C, D: entries of alice whose clocks do not follow their links."""
    made = {}
    for name, (time, parents, *_) in document()["lie"].items():
        made[name] = entry(name, variant, time=time, parents=[made[parent].cid for parent in parents.split()])
    return made


def names(entries, ids):
    """The names of ids, joined by blanks."""
    by_id = {each.record_id: name for name, each in entries.items()}
    return " ".join(by_id[id_] for id_ in ids)


def block_of(fields):
    """The block of a map, whatever it holds, with its digest."""
    block = dag_cbor(fields)
    return block, record_id(block)
