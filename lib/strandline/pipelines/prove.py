"""`prove`: writes the newest checkpoint of a namespace, and what proves a record or an older checkpoint by it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from strandline.contracts.shared_tables import CHECKPOINT_LEAVES, CHECKPOINTS
from strandline.core import merkle
from strandline.core.errors import UsageError
from strandline.core.notes import (
    NoteRefused,
    TreeHead,
    consistency_file,
    inclusion_file,
    log_name,
    open_note,
    verifier_key,
)
from strandline.dialect_api.dialect import Dialect
from strandline.frames import checkpoints
from strandline.frames.namespaces import only_namespaces
from strandline.kernels.notes import why_refused
from strandline.pipelines.namespace_lookup import resolve
from strandline.pipelines.prove_request import ProveRequest
from strandline.pipelines.report import Report
from strandline.pipelines.run_context import RunContext
from strandline.pipelines.spark_jobs import SparkJobs
from strandline.pipelines.stored_tree import StoredTree, tree_damaged
from strandline.tables import lake
from strandline.tables.newfile import NewFile
from strandline.tables.store import TableStore

SIGNERS: Final = 100
"""Pairs of origin and key of a namespace with which an older note is opened: the newest ones."""


def run(
    store: TableStore, dialects: Mapping[str, Dialect], request: ProveRequest, context: RunContext
) -> Report:
    """Write the proof files; each proof is verified before. No table changes.

    Members: `namespace`, `log` (the name of the log), `public_key`, `verifier_key`, `seq` and `size` of the checkpoint,
    `files`, and of a record its `position` and whether it `is_pruned` (then it has no file), of an older note its
    `old_size`.

    Raises: UsageError LAKE_NOT_FOUND, LAKE_FOREIGN, CONTRACT_NEWER, TABLE_MISSING; NAMESPACE_UNKNOWN,
    NAMESPACE_AMBIGUOUS; CHECKPOINT_UNSIGNED, RECORD_NOT_COVERED, NOTE_REFUSED; OUT_EXISTS. FaultError TREE_DAMAGED,
    OUT_NOT_WRITABLE.
    """
    lake.check_there(store)
    work_bytes = store.stored_bytes(CHECKPOINT_LEAVES)
    with store.sized(work_bytes), SparkJobs(context.progress) as jobs:
        context.progress.stage("finding the checkpoint")
        name, (namespace,) = resolve((request.namespace,), dialects, store, jobs)
        stated = only_namespaces(store.read(CHECKPOINTS), (namespace,), store.buckets)
        newest = _newest(namespace, stated, jobs)
        context.progress.stage("reading the tree")
        every = only_namespaces(store.read(CHECKPOINT_LEAVES), (namespace,), store.buckets)
        # Leaves of later checkpoints may be there: the newest row was read first.
        leaves = checkpoints.published(every, stated).withColumn("namespace", F.lit(namespace))
        tree = StoredTree(namespace, leaves, jobs)
        if tree.size != newest["size"] or tree.root(0, tree.size) != bytes(newest["root"]):
            raise tree_damaged(namespace, f"its leaves have not the root of checkpoint {newest['seq']}")
        files, members = _proof(store, dialects[name], request, (namespace, newest, stated, tree), jobs)
    log = log_name(newest["origin"], namespace)
    key = bytes(newest["public_key"])
    return context.report(
        store.location.describe(),
        namespaces=1,
        members={
            "namespace": namespace, "log": log, "public_key": key.hex(), "verifier_key": verifier_key(log, key),
            "seq": newest["seq"], "size": tree.size, "files": _written(files), **members,
        },
    )  # fmt: skip


def _newest(namespace: str, stated: DataFrame, jobs: SparkJobs) -> Row:
    """Return the newest checkpoint, if its note opens.

    Raises: UsageError CHECKPOINT_UNSIGNED; FaultError TREE_DAMAGED.
    """
    last = F.max_by(F.struct(*checkpoints.STATED), "seq").alias("last")
    found: Row | None = jobs.row(stated.agg(last))["last"]
    if found is None or found["note"] is None:
        raise UsageError(
            "CHECKPOINT_UNSIGNED",
            f"{namespace} has no checkpoint" if found is None else f"the checkpoint of {namespace} is not signed",
            "run `strandline checkpoint --origin NAME` with the key in STRANDLINE_CHECKPOINT_KEY",
        )  # fmt: skip
    key = None if found["public_key"] is None else bytes(found["public_key"])
    why = why_refused(
        namespace, found["size"], bytes(found["root"]), found["origin"], key, found["note"]
    )  # fmt: skip
    if why is not None:
        raise tree_damaged(namespace, f"the note of checkpoint {found['seq']} is refused, {why}")
    return found


Found = tuple[str, Row, DataFrame, StoredTree]
"""A namespace, its newest checkpoint, its checkpoints, its tree."""


def _proof(
    store: TableStore, dialect: Dialect, request: ProveRequest, found: Found, jobs: SparkJobs
) -> tuple[dict[Path, bytes], dict[str, Any]]:
    """Return the content of the files, and what the report says of them."""
    _, newest, _, _ = found
    if request.record_id is not None:
        return _of_record(store, dialect, request.paths(), request.record_id, found)
    if request.old_note is not None:
        content, old = _continued(request.old_note, found, jobs)
        return {request.paths()[0]: content}, {"old_size": old}
    return {request.paths()[0]: newest["note"].encode()}, {}


def _of_record(
    store: TableStore, dialect: Dialect, paths: tuple[Path, ...], record_id: bytes, found: Found
) -> tuple[dict[Path, bytes], dict[str, Any]]:  # fmt: skip
    namespace, newest, _, tree = found
    position = tree.position_of(record_id)
    if position is None:
        raise UsageError(
            "RECORD_NOT_COVERED",
            f"the newest checkpoint of {namespace} does not cover the record {record_id.hex()}",
            "run `strandline checkpoint` if the record came later; `strandline sql` finds the ids of records",
        )
    path = merkle.inclusion_path(position, tree.size, tree.root)
    if not merkle.is_included(merkle.leaf_hash(record_id), position, tree.size, path, bytes(newest["root"])):
        raise tree_damaged(namespace, f"its leaf {position} has not the hash of its record")
    files = {paths[0]: inclusion_file(position, path, newest["note"]).encode()}
    content = _content(store, dialect, namespace, record_id)
    if content is not None:
        files[paths[1]] = content
    return files, {"position": position, "is_pruned": content is None}


def _content(store: TableStore, dialect: Dialect, namespace: str, record_id: bytes) -> bytes | None:
    """Return the bytes whose SHA-256 is the record id, or None if the record was pruned."""
    table = dialect.info.record_table
    rows = only_namespaces(store.read(table), (namespace,), store.buckets)
    row = rows.where(F.col("record_id") == F.lit(record_id)).head()
    if row is None:
        return None
    try:
        content = dialect.hashed_content(row.asDict())
    except (TypeError, ValueError):
        # A value that the contract does not allow: null, or no UTF-8.
        content = b""
    if hashlib.sha256(content).digest() != record_id:
        raise tree_damaged(
            namespace, f"the row of {record_id.hex()} in {table} has another id than its content"
        )
    return content


def _continued(note: str, found: Found, jobs: SparkJobs) -> tuple[bytes, int]:
    """Return the proof that the newest tree continues that of an older note, and its size.

    Raises: UsageError NOTE_REFUSED; FaultError TREE_DAMAGED.
    """
    namespace, newest, stated, tree = found
    old = _opened(note, namespace, stated, jobs)
    if old.size > tree.size:
        what = f"a signed note states {old.size} records, and the newest checkpoint {tree.size}"
        raise tree_damaged(namespace, what)
    root = bytes(newest["root"])
    path = merkle.consistency_path(old.size, tree.size, tree.root)
    if not merkle.is_continued(old.size, tree.size, path, old.root, root):
        what = f"its first {old.size} leaves have another root than a signed note of so many records states"
        raise tree_damaged(namespace, what)
    return consistency_file(old.size, path, newest["note"]).encode(), old.size


def _opened(note: str, namespace: str, stated: DataFrame, jobs: SparkJobs) -> TreeHead:
    """Return what an older note states, opened with a key that signed a checkpoint of the namespace."""
    pairs = stated.where("note IS NOT NULL").groupBy("origin", "public_key").agg(F.max("seq").alias("seq"))
    last = pairs.orderBy(F.desc("seq")).limit(SIGNERS)
    listed = F.collect_list(F.struct("seq", "origin", "public_key")).alias("pairs")
    why = "nobody signed it"
    for pair in sorted(jobs.row(last.agg(listed))["pairs"], reverse=True):
        try:
            head = open_note(note, log_name(pair["origin"], namespace), bytes(pair["public_key"]))
        except NoteRefused as refused:
            # What the newest key says of it tells most.
            why = why if why != "nobody signed it" else str(refused)
            continue
        if head.size:
            return head
        why = "it states a tree without records, which every tree continues"
    raise UsageError(
        "NOTE_REFUSED",
        f"the older note is not one of {namespace}: {why}",
        "name a note of this namespace, as `strandline prove NAMESPACE --out NAME` writes it",
    )


def _written(files: Mapping[Path, bytes]) -> list[str]:
    """Write all files, or none: a record without its proof would show nothing."""
    with ExitStack() as stack:
        opened = [(stack.enter_context(NewFile(path)), content) for path, content in files.items()]
        for file, content in opened:
            file.write(content)
        for file, _ in reversed(opened):
            file.publish(new=True)
    return [str(path) for path in files]
