"""A lake of device logs in plain Python: what every table must hold after any number of ingests."""

from dataclasses import astuple, dataclass, fields

from strandline.contracts.load import contract
from strandline.core.hashing import quarantine_id
from strandline.core.ids import bucket_of
from strandline.core.verdict import encode_evidence
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

BUCKETS = 16
NAMES = [field.name for field in fields(Counts)]
QUARANTINE = ("quarantine_id", "namespace", "status", "reasons", "raw", "record_id", "waits_for", "evidence")
FORMATS = {"jsonl": "lines", "ndjson": "lines", "json": "json", "txt": "json"}
STATE = ("namespace", "bucket", "dialect", "record_count", "state_hash", "reducer_version", "depends_on")
SAME = (
    "record_id", "log", "profile", "kind", "seq", "lamport", "utc", "prev", "deps", "body", "body_size", "body_hash",
    "raw", "sig",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """A row of `quarantine`, with the least of the evidences that its deliveries gave."""

    quarantine_id: bytes
    namespace: str | None
    status: str
    reasons: tuple[str, ...]
    raw: bytes
    record_id: bytes | None
    waits_for: tuple[str, ...]
    evidence: str


def entry_row(entry, buckets=BUCKETS):
    """An accepted entry as a row of `device_log_entry`."""
    here = {"namespace": entry.namespace, "bucket": bucket_of(entry.namespace, buckets)}
    return here | {name: getattr(entry, name) for name in SAME} | {"erased_at": None}


def fork_row(found, buckets=BUCKETS):
    """A fork as a row of `equivocation`."""
    row = {field.name: getattr(found, field.name) for field in fields(found)}
    return row | {"bucket": bucket_of(found.namespace, buckets)}


def tuples(table, rows, names=None):
    """Rows as the lake gives them."""
    names = names or contract(table).compared
    return sorted((tuple(_plain(row.get(name)) for name in names) for row in rows), key=repr)


def _plain(value):
    if isinstance(value, dict):
        return tuple(map(_plain, value.values()))
    return tuple(map(_plain, value)) if isinstance(value, (list, tuple)) else value


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
            self._keep(self.rejected if row.status == "rejected" else self.waiting, row)
        return judgement.counts

    def _keep(self, rows, row):
        id_ = quarantine_id(DIALECT, row.namespace, row.status, row.reasons, row.raw)
        text = encode_evidence(row.evidence)
        if id_ in rows:
            text = min(text, rows[id_].evidence)
        rows[id_] = Row(
            id_, row.namespace, row.status, row.reasons, row.raw, row.record_id, row.waits_for, text
        )

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
    expected = sorted(map(astuple, (*reference.rejected.values(), *reference.waiting.values())), key=repr)
    assert lake.rows("quarantine", *QUARANTINE) == expected


def assert_reduced_equal(lake, reference):
    """Rows of groups and states are those of the reference."""
    for table, rows in reference.reduced().items():
        names = STATE if table == "namespace_state" else contract(table).compared
        assert lake.rows(table, *names) == tuples(table, rows, names), table


def told(report):
    """The counts of a report as the reference counts."""
    return Counts(**counted(report, NAMES))
