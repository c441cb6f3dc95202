"""A lake of logs in plain Python: what the record tables and the quarantine must hold after any number of ingests."""

from collections.abc import Mapping
from dataclasses import astuple, fields

from strandline.core.ids import bucket_of
from strandline.dialects.ipfslog.codec import canonical_cid, read_documents
from strandline.dialects.ipfslog.codec.dag_pb import is_dag_pb
from strandline.dialects.ipfslog.reduce import ops_of, payload_json, value_json
from strandline.dialects.ipfslog.types import DIALECT, SHARED_NAMESPACE
from strandline.dialects.ipfslog.verify import AcceptedRecords, Counts, judge
from support.lakes import counted
from support.places import BUCKETS
from support.reference_rows import assert_quarantine_equal, keep

NAMES = [field.name for field in fields(Counts)]
FORMATS = {".jsonl": "lines", ".json": "json", ".car": "car"}


class ReferenceLogs:
    """Ingests decompressed files, each run judged by `judge`."""

    def __init__(self, profile="strict"):
        self.profile = profile
        self.accepted = AcceptedRecords()
        self.quarantine = {}

    def ingest(self, files: Mapping[str, bytes]) -> Counts:
        documents = [
            document
            for name in sorted(files)
            for document in read_documents(files[name], FORMATS[name[name.rindex(".") :]])
        ]
        judgement = judge(documents, self.accepted, self.profile)
        self.accepted = judgement.accepted
        for row in judgement.quarantine:
            keep(self.quarantine, DIALECT, row.namespace, row, row.raw, row.record_id)
        self.quarantine = {
            id_: row
            for id_, row in self.quarantine.items()
            if row.status == "rejected" or row.record_id in self.accepted.waiting
        }
        return judgement.counts

    def entries(self):
        return sorted(
            (
                (
                    each.namespace, bucket_of(each.namespace, BUCKETS), each.record_id, each.cid, each.variant,
                    each.log_id, each.key, each.sig, each.clock_time, each.clock_id, each.writer,
                    each.identity_digest, each.block, each.next, each.refs, payload_json(each), value_json(each),
                    tuple(astuple(op) for op in ops_of(each)), each.flags,
                )
                for each in self.accepted.entries.values()
            ),
            key=repr,
        )  # fmt: skip

    def identities(self):
        shared = bucket_of(SHARED_NAMESPACE, BUCKETS)
        found = []
        for digest, known in self.accepted.identities.items():
            each = known.identity
            cid = canonical_cid(digest, "v0" if is_dag_pb(each.block) else "core2")
            found.append(
                (SHARED_NAMESPACE, shared, digest, each.block, cid, each.id, each.public_key, each.sig_id,
                 each.sig_public_key, each.type, known.is_valid)
            )  # fmt: skip
        return sorted(found, key=repr)

    def manifests(self):
        shared = bucket_of(SHARED_NAMESPACE, BUCKETS)
        return sorted(
            (
                (SHARED_NAMESPACE, shared, each.record_id, each.block, each.cid, each.kind, each.log_id, each.name,
                 each.type, each.access, each.write)
                for each in self.accepted.manifests.values()
            ),
            key=repr,
        )  # fmt: skip


def assert_admitted_equal(lake, reference) -> None:
    """Record tables and rows of quarantine with their evidence are those of the reference."""
    assert lake.rows("ipfs_log_identity") == reference.identities()
    assert lake.rows("ipfs_log_manifest") == reference.manifests()
    assert lake.rows("ipfs_log_entry") == reference.entries()
    assert_quarantine_equal(lake, reference.quarantine)


def told(report) -> Counts:
    """The counts of a report as the reference counts."""
    found = counted(report, NAMES)
    assert found["read"] == found["new"] + found["known"] + found["rejected"] + found["deferred"]
    return Counts(**found)
