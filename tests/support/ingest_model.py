"""A lake in memory whose runs of `ingest` are stopped and mixed at any step; it decides with the code of the lake."""

from dataclasses import dataclass, field
from types import SimpleNamespace

from strandline.contracts.shared_tables import QUARANTINE
from strandline.dialects import dialect
from strandline.pipelines.admission import Admitter
from strandline.tables.commits import METADATA_OF_COMMIT
from strandline.tables.location import Location
from strandline.tables.read_lake import OF_MERGE
from strandline.tables.store import TableStore
from strandline.tables.written import Written

DIALECT = dialect("devicelog")
RECORDS = DIALECT.info.record_table
STEPS = 8
"""Steps of a run; it can be killed before each."""
BEFORE_MARK = 6
"""The step before which a run that is killed leaves a race unmarked: decision 164 says so."""


@dataclass
class ModelLake:
    """Stored records, waiting records, rows of `run`; `needs` names the records that each record needs."""

    needs: dict
    records: set = field(default_factory=set)
    waiting: set = field(default_factory=set)
    rows: dict = field(default_factory=dict)
    commits: dict = field(default_factory=lambda: {RECORDS: [], QUARANTINE: []})

    def is_complete(self, name, given=()):
        return self.needs.get(name, set()) <= self.records | set(given)

    def forgotten(self):
        """The records that wait although they are stored, or all that they need is."""
        return {name for name in self.waiting if name in self.records or self.is_complete(name)}


class ModelStore(TableStore):
    """The tables of a model lake, for one run."""

    def __init__(self, lake, run_id):
        super().__init__(None, Location.lake("model"), None, run_id=run_id)
        self.lake = lake

    def of_run(self, run_id, attempt=""):
        return ModelStore(self.lake, run_id)

    def version(self, table):
        return len(self.lake.commits[table])

    def newest_commits(self, table, limit=20):
        return self.lake.commits[table][: -limit - 1 : -1]

    def touch(self, table):
        return self.merged(table, once=True)

    def merged(self, table, *counts, once=False):
        """Commit a MERGE, unless it changes nothing."""
        if any(counts) or once or table in self._commit_always:
            metrics = dict(zip(OF_MERGE, counts, strict=False))
            named = {METADATA_OF_COMMIT: self.run_id, "operation": "MERGE", "operationMetrics": metrics}
            self.lake.commits[table].append({"version": self.version(table) + 1, **named})
        return Written(self.version(table), *counts)

    def _recorded_runs(self, run_ids):
        return {each: self.lake.rows[each] for each in run_ids if each in self.lake.rows}


def ingesting(lake, run_id, delivered):
    """A run of `ingest`; yields before each step."""
    store, delivered = ModelStore(lake, run_id), set(delivered)
    admitter = Admitter.__new__(Admitter)
    admitter._store, admitter._dialect, admitter._written = store, DIALECT, {}
    admitter.quarantine = SimpleNamespace(written=None)
    yield
    admitter._note_versions()
    yield
    waiting = set(lake.waiting)
    yield
    repairs = bool(waiting) and store.begin_repair((RECORDS,))
    yield
    recalled = waiting if repairs or any(lake.needs[each] & delivered for each in waiting) else set()
    accepted, judged = set(), delivered | recalled
    while found := {each for each in judged - accepted if lake.is_complete(each, accepted)}:
        accepted |= found
    yield
    inserted = len(accepted - lake.records)
    lake.records |= accepted
    admitter._written[RECORDS] = store.merged(RECORDS, inserted)
    yield
    deferred, resolved = judged - accepted, accepted & recalled
    counts = len(deferred - lake.waiting), len(deferred & lake.waiting), len(resolved & lake.waiting)
    lake.waiting = (lake.waiting | deferred) - resolved
    admitter.quarantine.written = store.merged(QUARANTINE, *counts)
    yield
    admitter.end()
    yield
    lake.rows[run_id] = store.repaired_versions
