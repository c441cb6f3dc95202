"""Logs in a lake, entered as accepted rows, beside what the plain reference makes of them."""

from dataclasses import dataclass, field

from strandline.core.ids import bucket_of
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
from support.ipfslog_cases import AUTHORS, who

REDUCED = (
    "ipfs_log_head", "ipfs_log_tail", "ipfs_log_view", "ipfs_log_document", "equivocation", "namespace_state",
)  # fmt: skip
BUCKETS = 16


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


def enter_identities(lake):
    """Add the identities of the authors, as ingest does before their entries."""
    known = [who(name, variant) for name in AUTHORS.values() for variant in ("v2", "core2")]
    _union(lake, "ipfs_log_identity", [identity_row(each) for each in known])


def manifest(block):
    """The manifest that a block is."""
    parsed = parse_dag_cbor(block).value
    return manifest_of(manifest_kind(parsed), parsed, block)


def enter(lake, entries=(), manifests=()):
    """Union entries and manifests into the lake, as ingest does with what it accepts."""
    _union(lake, "ipfs_log_entry", _distinct(map(entry_row, entries)))
    _union(lake, "ipfs_log_manifest", _distinct(map(manifest_row, manifests)))


def _union(lake, table, rows):
    if rows:
        store = lake.store()
        schema = store.schema(table)
        values = [tuple(row[name] for name in schema.names) for row in rows]
        frame = lake.spark.createDataFrame(values, schema)
        store.merge_new(table, frame, tuple(sorted({row["bucket"] for row in rows})), {})


def _distinct(rows):
    return list({(row["namespace"], row["record_id"]): row for row in rows}.values())


@dataclass
class ReferenceLogs:
    """The same sets in memory, reduced by the plain functions."""

    told: dict[str, LogConfiguration] = field(default_factory=dict)
    entries: dict[str, dict[bytes, object]] = field(default_factory=dict)
    manifests: list = field(default_factory=list)

    def enter(self, entries=(), manifests=()):
        for each in entries:
            self.entries.setdefault(each.log_id, {})[each.record_id] = each
        self.manifests.extend(manifests)

    def configuration(self, log_id):
        return configuration_of(log_id, self.told, self.manifests)

    def tables(self, names=REDUCED, logs=None):
        """Rows of the reduced tables, as `Lake.rows` gives them."""
        found = {name: [] for name in names}
        for log_id, held in self.entries.items():
            if logs is None or log_id in logs:
                for name, rows in log_rows(log_id, held, self.configuration(log_id)).items():
                    found[name].extend(rows)
        return {name: sorted(rows, key=repr) for name, rows in found.items()}


def log_rows(log_id, held, told):
    """The rows of one log by table, provenance left out."""
    namespace = log_namespace(log_id)
    place = (namespace, bucket_of(namespace, BUCKETS))
    state = reduce_log(held.values(), told)

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
            for row in forks(held.values())
        ],
        "namespace_state": [
            (*place, "ipfslog", state.record_count, state.state_hash, state.reducer_version, depends_on,
             state.order_blocks, state.document_groups, told.as_json)
        ],
    }  # fmt: skip


def lake_tables(lake, names=REDUCED):
    """The reduced tables of a lake."""
    return {name: lake.rows(name) for name in names}
