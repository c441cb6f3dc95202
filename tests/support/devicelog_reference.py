"""A lake of device logs in plain Python: what every table must hold after any number of ingests."""

from dataclasses import fields

from strandline.core.ids import bucket_of
from strandline.dialects.devicelog.codec import read_documents
from strandline.dialects.devicelog.kernels.reduced_rows import (
    member_rows,
    screw_rows,
    state_row,
    tip_rows,
    view_rows,
)
from strandline.dialects.devicelog.reduce import reduce
from strandline.dialects.devicelog.types import DIALECT
from strandline.dialects.devicelog.verify import Counts, HeldEntries, forks, judge_documents
from support.lakes import counted
from support.places import BUCKETS
from support.reference_rows import assert_quarantine_equal, keep, tuples

NAMES = [field.name for field in fields(Counts)]
FORMATS = {"jsonl": "lines", "ndjson": "lines", "json": "json", "txt": "json"}
SAME = (
    "record_id", "log", "profile", "kind", "seq", "lamport", "utc", "prev", "deps", "body", "body_size", "body_hash",
    "raw", "sig",
)  # fmt: skip


def entry_row(entry, buckets=BUCKETS):
    """An accepted entry as a row of `device_log_entry`."""
    here = {"namespace": entry.namespace, "bucket": bucket_of(entry.namespace, buckets)}
    return here | {name: getattr(entry, name) for name in SAME} | {"erased_at": None}


def fork_row(found, buckets=BUCKETS):
    """A fork as a row of `equivocation`."""
    row = {field.name: getattr(found, field.name) for field in fields(found)}
    return row | {"bucket": bucket_of(found.namespace, buckets)}


class ReferenceDeviceLogs:
    """Ingests files, each run judged by `judge_documents`."""

    def __init__(self, ssb_profile="strict", hmac_key=None):
        self.ssb_profile, self.hmac_key = ssb_profile, hmac_key
        self.held = HeldEntries()
        self.rejected = {}
        self.waiting = {}

    def ingest(self, files):
        documents = [
            document
            for name in sorted(files)
            for document in read_documents(files[name], FORMATS[name.rpartition(".")[2]])
        ]
        judgement = judge_documents(documents, self.held, self.ssb_profile, self.hmac_key)
        self.held, self.waiting = judgement.held, {}
        for row in judgement.quarantine:
            rows = self.rejected if row.status == "rejected" else self.waiting
            keep(rows, DIALECT, row.namespace, row, row.raw, row.record_id)
        return judgement.counts

    def rows(self):
        """The rows of `device_log_entry`."""
        return [entry_row(entry) for entry in self.held.entries.values()]

    def reduced(self, policy="keep-both"):
        """The rows of the reduced tables."""
        groups, found = {}, {"equivocation": self.forks()}
        for entry in self.held.entries.values():
            groups.setdefault(entry.namespace, []).append(entry)
        for namespace, entries in groups.items():
            here = {"namespace": namespace, "bucket": bucket_of(namespace, BUCKETS)}
            state = reduce(entries, policy)
            parts = {
                "device_log_view": view_rows(state), "device_log_screw": screw_rows(state),
                "device_log_tip": tip_rows(state), "device_log_member": member_rows(state),
                "namespace_state": [
                    state_row(state)
                    | {"dialect": DIALECT, "reducer_version": f"devicelog-1:{policy}", "depends_on": None}
                ],
            }  # fmt: skip
            for table, rows in parts.items():
                found.setdefault(table, []).extend(here | row for row in rows)
        return found

    def forks(self):
        """The rows of `equivocation`."""
        return [fork_row(each) for each in forks(self.held.entries.values(), self.ssb_profile, self.hmac_key)]


def assert_admitted_equal(lake, reference):
    """Entries and rows of quarantine with their evidence are those of the reference."""
    assert lake.rows("device_log_entry") == tuples("device_log_entry", reference.rows())
    assert_quarantine_equal(lake, reference.rejected, reference.waiting)


def told(report):
    """The counts of a report as the reference counts."""
    return Counts(**counted(report, NAMES))
