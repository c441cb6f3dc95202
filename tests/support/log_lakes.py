"""Logs in a lake, entered as accepted rows, beside what the plain reference makes of them."""

import json
from dataclasses import dataclass, field

from strandline.core.ids import bucket_of
from strandline.dialect_api.info import GivenOption
from strandline.dialects.ipfslog.codec import manifest_kind, manifest_of, parse_dag_cbor
from strandline.dialects.ipfslog.reduce import (
    LogConfiguration,
    configuration_of,
    forks,
    ops_of,
    payload_json,
    reduce_log,
    value_json,
)
from strandline.dialects.ipfslog.types import SHARED_NAMESPACE, log_namespace
from strandline.tables.commits import session_settings
from strandline.tables.store import MATERIALIZE
from support.ipfslog_cases import AUTHORS, who
from support.places import BUCKETS
from support.pruning import (
    as_taken,
    carry,
    member_rows,
    prunable,
    pruned_row,
    skeleton,
    snapshot_row,
    witnesses_of,
)

REDUCED = (
    "ipfs_log_head", "ipfs_log_tail", "ipfs_log_view", "ipfs_log_document", "equivocation", "namespace_state",
)  # fmt: skip
ALL = ("*",)
ROW_BYTES = 100
"""So many that ten thousand rows are work of one task."""


def entry_row(entry, buckets=BUCKETS):
    """An accepted entry as a row of `ipfs_log_entry`."""
    return {
        "namespace": entry.namespace,
        "bucket": bucket_of(entry.namespace, buckets),
        **{name: getattr(entry, name) for name in (
            "record_id", "cid", "variant", "log_id", "key", "sig", "clock_time", "clock_id", "writer",
            "identity_digest", "block",
        )},
        "next": list(entry.next),
        "refs": list(entry.refs),
        "payload_json": payload_json(entry),
        "value_json": value_json(entry),
        "ops": [(op.op, op.op_key, op.value_json, op.item, op.target) for op in ops_of(entry)],
        "flags": list(entry.flags),
        "run_id": "test",
    }  # fmt: skip


def manifest_row(manifest, buckets=BUCKETS):
    """A manifest as a row of `ipfs_log_manifest`."""
    names = ("record_id", "block", "cid", "kind", "log_id", "name", "type", "access")
    write = None if manifest.write is None else list(manifest.write)
    return {
        "namespace": SHARED_NAMESPACE,
        "bucket": bucket_of(SHARED_NAMESPACE, buckets),
        **{name: getattr(manifest, name) for name in names},
        "write": write,
    }


def identity_row(identity, buckets=BUCKETS):
    """A valid identity as a row of `ipfs_log_identity`."""
    record = identity.record
    return {
        "namespace": SHARED_NAMESPACE,
        "bucket": bucket_of(SHARED_NAMESPACE, buckets),
        "record_id": record.digest,
        "cid": identity.cid,
        **{name: getattr(record, name) for name in (
            "block", "id", "public_key", "sig_id", "sig_public_key", "type",
        )},
        "valid": True,
    }  # fmt: skip


def file_of(told):
    """The operator's file that says so."""
    logs = [{"id": id_, "store": each.store, "write": list(each.write)} for id_, each in told.items()]
    return {"log-config": GivenOption("logs.json", json.dumps({"logs": logs}).encode())}


def told(store, write=ALL):
    return LogConfiguration(store, write, "config")


def enter_identities(lake):
    """Add the identities of the authors, as ingest does before their entries."""
    known = [who(name, variant) for name in AUTHORS.values() for variant in ("v2", "core2")]
    union(lake, "ipfs_log_identity", [identity_row(each) for each in known])


def manifest(block):
    """The manifest that a block is."""
    parsed = parse_dag_cbor(block).value
    return manifest_of(manifest_kind(parsed), parsed, block)


def enter(lake, entries=(), manifests=()):
    """Union entries and manifests into the lake, as ingest does with what it accepts."""
    union(lake, "ipfs_log_entry", _distinct(map(entry_row, entries)))
    union(lake, "ipfs_log_manifest", _distinct(map(manifest_row, manifests)))


def prune(lake, reference, draw):
    """Let some entries of every log go that may, as a collection does; of some logs the rows are not deleted yet.

    Returns the ids of the logs.
    """
    snapshots, members, rows, deleted = [], [], [], []
    for log_id, held in reference.entries.items():
        told = reference.configuration(log_id)
        gone = [each for each in prunable(held.values(), told) if draw.random() < 0.7]
        if gone:
            state = reduce_log(held.values(), told)
            positions = {row.record_id: row.position for row in state.view}
            reference.prune(log_id, gone)
            taken = as_taken(snapshot_row(log_namespace(log_id), told, state, gone))
            by = {"snapshot_id": taken["snapshot_id"]}
            snapshots.append(taken)
            members += [row | by for row in member_rows(log_namespace(log_id), held, gone)]
            rows += [pruned_row(each, positions[each.record_id]) | by for each in gone]
            deleted += [] if len(snapshots) % 4 == 0 else gone
    union(lake, "snapshot_member", members)
    union(lake, "snapshot", snapshots)
    union(lake, "pruned_record", rows)
    if deleted:
        store, names = lake.store(), ("namespace", "bucket", "record_id")
        keys = [tuple(entry_row(each)[name] for name in names) for each in deleted]
        frame = lake.spark.createDataFrame(keys, "namespace STRING, bucket INT, record_id BINARY")
        store.delete("ipfs_log_entry", frame, tuple(sorted({key[1] for key in keys})))
    return [log_id for log_id in reference.entries if log_id in reference.pruned]


def union(lake, table, rows):
    """Union rows, as mappings by column, into a table, as a small command does if they are few."""
    if rows:
        store = lake.store()
        schema = store.schema(table)
        values = [tuple(row.get(name) for name in schema.names) for row in rows]
        frame = lake.spark.createDataFrame(values, schema)
        # What this process gave to Spark need not be kept before it is merged.
        with (
            store.sized(len(rows) * ROW_BYTES, (table,)),
            session_settings(lake.spark, {MATERIALIZE: "none"}),
        ):
            store.merge_new(table, frame, tuple(sorted({row["bucket"] for row in rows})), {})


def _distinct(rows):
    return list({(row["namespace"], row["record_id"]): row for row in rows}.values())


@dataclass
class ReferenceLogs:
    """The same sets in memory, reduced by the plain functions."""

    told: dict[str, LogConfiguration] = field(default_factory=dict)
    entries: dict[str, dict[bytes, object]] = field(default_factory=dict)
    manifests: list = field(default_factory=list)
    pruned: dict[str, dict[bytes, object]] = field(default_factory=dict)
    carries: dict[str, object] = field(default_factory=dict)
    witnesses: set[bytes] = field(default_factory=set)

    def enter(self, entries=(), manifests=()):
        for each in entries:
            self.entries.setdefault(each.log_id, {})[each.record_id] = each
        self.manifests.extend(manifests)

    def configuration(self, log_id):
        found = configuration_of(log_id, self.told, self.manifests)
        return self.carries[log_id].configuration_of(found) if log_id in self.carries else found

    def skeletons(self, log_id):
        """What stands for the pruned entries of a log."""
        return [skeleton(each) for each in self.pruned.get(log_id, {}).values()]

    def state(self, log_id):
        """The state of a log."""
        held = self.entries[log_id].values()
        return reduce_log(held, self.configuration(log_id), self.skeletons(log_id))

    def forks(self, log_id):
        """The forks of a log: in what is held, and in pruned entries that a fork had shown."""
        gone = self.pruned.get(log_id, {})
        held = self.entries[log_id].items()
        return forks(each for id_, each in held if id_ not in gone or id_ in self.witnesses)

    def prune(self, log_id, gone):
        """Let entries of a log go; those that a fork shows stay its members."""
        self.carries[log_id] = carry(self.configuration(log_id), gone)
        self.witnesses |= witnesses_of(self.entries[log_id].values()) & {each.record_id for each in gone}
        self.pruned.setdefault(log_id, {}).update({each.record_id: each for each in gone})

    def tables(self, names=REDUCED, logs=None):
        """Rows of the reduced tables, as `Lake.rows` gives them."""
        found = {name: [] for name in names}
        for log_id, held in self.entries.items():
            if logs is None or log_id in logs:
                rows_of = log_rows(
                    log_id, held, self.configuration(log_id), self.state(log_id), self.forks(log_id)
                )
                for name, rows in rows_of.items():
                    found[name].extend(rows)
        return {name: sorted(rows, key=repr) for name, rows in found.items()}


def log_rows(log_id, held, told, state, found_forks):
    """The rows of one log by table, provenance left out; `held` are all entries that there ever were."""
    namespace = log_namespace(log_id)
    place = (namespace, bucket_of(namespace, BUCKETS))

    def of(record_id):
        return held[record_id]

    depends_on = tuple((SHARED_NAMESPACE, digest) for digest in sorted(set(told.depends_on))) or None
    return {
        "ipfs_log_head": [
            (*place, row.record_id, row.rank, of(row.record_id).cid, of(row.record_id).writer,
             of(row.record_id).clock_id, of(row.record_id).clock_time)
            for row in state.heads
        ],
        "ipfs_log_tail": [
            (*place, row.record_id, of(row.record_id).cid, row.kind, row.missing) for row in state.tails
        ],
        "ipfs_log_view": [
            (*place, row.record_id, row.position, of(row.record_id).clock_time, of(row.record_id).clock_id,
             state.mode, row.tied, row.clock_ok)
            for row in state.view
        ],
        "ipfs_log_document": [
            (*place, row.document_key, told.store, row.record_id, row.item, row.deleted, row.value_json)
            for row in state.documents or ()
        ],
        "equivocation": [
            (row.equivocation_id, row.namespace, place[1], row.dialect, row.kind, row.key, row.position,
             row.members, row.member_count, row.bytes_a, row.bytes_b, row.attributable, row.evidence)
            for row in found_forks
        ],
        "namespace_state": [
            (*place, "ipfslog", state.record_count, state.state_hash, state.reducer_version, depends_on,
             state.order_blocks, state.document_groups, told.as_json)
        ],
    }  # fmt: skip


def lake_tables(lake, names=REDUCED):
    """The reduced tables of a lake."""
    return {name: lake.rows(name) for name in names}


def written(lake, table, first):
    """How many rows the versions of a table from `first` on wrote, inserted or updated."""
    store = lake.store()
    feed = lake.spark.read.option("readChangeFeed", "true").option("startingVersion", first)
    rows = feed.format("delta").load(store.location.table_path(table))
    return rows.where("_change_type IN ('insert', 'update_postimage')").count()
