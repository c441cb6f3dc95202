"""Entries to files: JSON, JSON lines, log snapshots, raw blocks, CARs. Reading a file returns what was written."""

import base64
import json
from collections.abc import Iterable
from itertools import islice
from typing import Any

from strandline.core.encoding.js_json import stringified
from strandline.core.encoding.strict_json import strict_json
from strandline.dialects.ipfslog.author.log import Log
from strandline.dialects.ipfslog.codec import (
    JSON_ORDER,
    MAX_ROOTS_WRITTEN,
    NESTING,
    canonical_cid,
    car,
    cid_text,
    dag_cbor,
    dag_pb_data,
    json_fitness,
    link,
    parse_cid,
    parse_dag_cbor,
)
from strandline.dialects.ipfslog.types import Cid, Entry, IdentityRecord, Manifest


def to_json(entry: Entry) -> str:
    """Return an entry as one compact JSON object, with its content address as `hash`.

    Raises:
        ValueError: JSON cannot store the payload: a byte string, a link, or an integer that is not a double; write
            blocks instead.
    """
    if entry.variant == "v0":
        fields: dict[str, Any] = strict_json(dag_pb_data(entry.block) or b"", numbers="js", nesting=NESTING)
    else:
        item = parse_dag_cbor(entry.block)
        fields = item.value
        if item.has_unsafe_integer or json_fitness(fields["payload"]) == "beyond":
            raise ValueError("JSON cannot hold this payload; write blocks")
    fields["hash"] = entry.cid
    if entry.variant in ("v1", "v2"):
        for name in ("next", "refs"):
            if name in fields:
                fields[name] = [cid_text(each.value[1:]) for each in fields[name]]
    return stringified({name: fields[name] for name in JSON_ORDER if name in fields})


def to_lines(entries: Iterable[Entry]) -> bytes:
    """Return entries as JSON lines.

    Raises:
        ValueError: as `to_json`.
    """
    return "".join(to_json(entry) + "\n" for entry in entries).encode("utf-8")


def to_snapshot(log: Log) -> bytes:
    """Return a log as one JSON document: `id`, its `heads` and all its `values`, oldest first.

    Raises:
        ValueError: as `to_json`.
    """
    heads = ",".join(to_json(entry) for entry in log.heads)
    values = ",".join(to_json(entry) for entry in log.values)
    return f'{{"id":{json.dumps(log.id, ensure_ascii=False)},"heads":[{heads}],"values":[{values}]}}'.encode()


def to_manifest(log: Log) -> bytes:
    """Return the block of a log's manifest: its id and links to its heads, newest first."""
    heads = [_cid(entry.cid).raw for entry in log.heads]
    return dag_cbor({"id": log.id, "heads": [link(raw) for raw in heads]})


def to_blocks(
    entries: Iterable[Entry], identities: Iterable[IdentityRecord] = (), manifests: Iterable[Manifest] = ()
) -> bytes:
    """Return blocks as JSON lines `{"cid":..,"data":..}`, exact for every payload. Identities come first."""
    lines = []
    for cid, block in _blocks(entries, identities, manifests):
        data = base64.b64encode(block).decode("ascii")
        lines.append(f'{{"cid":"{cid_text(cid)}","data":"{data}"}}\n')
    return "".join(lines).encode("ascii")


def to_car(
    roots: Iterable[Entry],
    entries: Iterable[Entry],
    identities: Iterable[IdentityRecord] = (),
    manifests: Iterable[Manifest] = (),
) -> bytes:
    """Return a CARv1 of blocks, identities first; `roots` are the heads, of which a header names the first 50,000."""
    named = islice(roots, MAX_ROOTS_WRITTEN)
    return car([_cid(root.cid).raw for root in named], _blocks(entries, identities, manifests))


def _blocks(
    entries: Iterable[Entry], identities: Iterable[IdentityRecord], manifests: Iterable[Manifest]
) -> list[tuple[bytes, bytes]]:
    found = [(_cid(canonical_cid(each.digest)).raw, each.block) for each in identities]
    found += [(_cid(each.cid).raw, each.block) for each in manifests]
    return found + [(_cid(each.cid).raw, each.block) for each in entries]


def _cid(text: str) -> Cid:
    cid = parse_cid(text)
    if isinstance(cid, str):
        raise ValueError("the content address of an entry must be canonical")
    return cid
