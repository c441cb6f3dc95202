"""The effects of the book over a lake: journals are merged, read and written, budgets are read, joined and charged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from strandline.cli.invocation import Invocation, Options
from strandline.core.errors import NamespaceMismatch
from strandline.dialect_api.ports import Jobs
from strandline.dialects import dialect
from strandline.dialects.aura.author.budget_updates import BudgetUpdate, budget_update, update_facts
from strandline.dialects.aura.author.charges import (
    ROUNDS,
    ConcurrentUpdate,
    FlowBudget,
    WriteConflict,
    charging,
)
from strandline.dialects.aura.author.journals import Merged, merge_facts, refine_caps
from strandline.dialects.aura.codec import stored_fact
from strandline.dialects.aura.reduce import Journal
from strandline.dialects.aura.reduce.contexts import Cap, reduce_context
from strandline.dialects.aura.spark.tables import FACTS
from strandline.dialects.aura.types import DIALECT, Fact, Namespace
from strandline.effects.budgets import AttestBody, DeltaBudget
from strandline.effects.errors import NoSigner
from strandline.effects.known import named_states, own_history, pruned_history
from strandline.frames.namespaces import only_namespaces
from strandline.pipelines import ingest
from strandline.pipelines.ingest_input import IngestRequest
from strandline.pipelines.run_context import NoProgress, RunContext
from strandline.pipelines.runs import RunResult, record_run
from strandline.pipelines.spark_jobs import SparkJobs
from strandline.tables.commits import Retry
from strandline.tables.contents import Contents
from strandline.tables.location import Location
from strandline.tables.store import TableStore

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from strandline.pipelines.report import Report

T = TypeVar("T")


@dataclass(frozen=True)
class LakeJournal:
    """The accepted facts of a namespace at one version of `aura_fact`.

    `caps` are the capabilities of members by id; those without a refinement that counts may do all.
    """

    journal: Journal
    version: int
    caps: Mapping[bytes, Cap] = field(default_factory=dict)


class JournalEffects:
    """Effects on the journal of one namespace in a lake. Calls block; each reads the newest version.

    `schema` is CATALOG.SCHEMA or the folder of a lake that exists. `authority` is who charges, and `signer` attests for
    it: from a body id to the members of an attestation. Threads need a session each (`spark.newSession()`), as Spark
    keeps the settings of a statement by session.
    """

    def __init__(
        self,
        spark: SparkSession,
        schema: str,
        namespace: Namespace,
        authority: Namespace | None = None,
        signer: AttestBody | None = None,
    ) -> None:
        location = Location.named(schema)
        where = location.describe()
        options = Options(lake=where) if location.is_path() else Options(schema=where)
        self._call = Invocation("effects", options)
        self._context = self._call.context()
        self._spark, self._location = spark, location
        self._namespace, self._authority, self._signer = namespace, authority, signer

    def merge_facts(self, target: Journal, delta: Journal) -> Merged:
        """Return target with the facts of delta that are admitted with the states known in the lake; writes nothing.

        Raises: NamespaceMismatch.
        """
        store = self._store(self._context)
        version = store.version(FACTS)
        with SparkJobs(NoProgress()) as jobs:
            states = named_states(store, version, delta.facts, jobs)
            history, pruned = own_history(store, version, delta), pruned_history(store, version, delta, jobs)
        return merge_facts(target, delta, history, states, pruned)

    def refine_caps(self, target: Journal, refinement: Journal) -> Journal:
        """Return target with refinements; writes nothing.  Raises: as `author.journals.refine_caps`."""
        return refine_caps(target, refinement, {})

    def get_journal(self) -> LakeJournal:
        """Return all accepted facts of the namespace, at one version.

        The driver holds them all, about 3 KB each: read a namespace of millions by SQL, or in parts by `export`.
        """
        store = self._store(self._context)
        version = store.version(FACTS)
        facts = self._facts(store, version, self._namespace)
        if self._namespace.kind == "authority":
            return LakeJournal(Journal(self._namespace, facts), version)
        caps = {each.subject: each.cap for each in reduce_context(self._namespace, facts, {}).capabilities}
        return LakeJournal(Journal(self._namespace, facts), version, caps)

    def persist_journal(self, journal: Journal) -> Report:
        """Ingest a journal: everything is verified again, nothing is deleted, a repeat inserts nothing.

        Raises: NamespaceMismatch; as `ingest`.
        """
        if journal.namespace != self._namespace:
            raise NamespaceMismatch(self._namespace.text, journal.namespace.text)
        context = self._call.context_of("effects", self._context)
        store = TableStore(
            self._spark, self._location, Retry(self._call.settings.merge), run_id=context.run_id
        )
        contents = Contents("persist_journal", "cbor", [fact.cbor for fact in journal.facts])
        request = IngestRequest(contents=contents)
        return ingest.run(store, dialect(DIALECT), request, self._call.settings, context)

    def get_flow_budget(self, context: Namespace, peer: Namespace) -> FlowBudget:
        """Return the budget of the authority to a peer, at the epoch of its tip; the limit is the effective one.

        Raises: NoSigner (no authority was given), PartySelf, UnknownContext, NotAMember, AuthorityUnknown,
            CarryDamaged.
        """
        with SparkJobs(NoProgress()) as jobs:
            return self._budget(self._store(self._context), context, peer, jobs).read().budget

    def charge_flow_budget(
        self, context: Namespace, peer: Namespace, cost: int, *, request_id: bytes | None = None
    ) -> FlowBudget:
        """Charge the budget of the authority to a peer; the check of the limit and the write are one step.

        A repeat with an equal `request_id` finds its charge. Between lakes a limit cannot hold: they find out later.
        Raises: ValueError (the cost is no 32-bit number), BudgetExceeded, ChainFull, ConcurrentUpdate, SlotsTaken,
            NoSigner, StaleState, AttestationRefused, PartySelf, UnknownContext, NotAMember, AuthorityUnknown,
            CarryDamaged.
        """
        self._check_signer()

        def charge(lake: DeltaBudget, run: RunContext) -> FlowBudget:
            steps = charging(lake, context, cost, request_id)
            while True:
                try:
                    run.faults.reach(f"effects.{next(steps)}")
                except StopIteration as ended:
                    found: FlowBudget = ended.value
                    return found

        return self._writing(context, peer, charge)

    def update_flow_budget(self, context: Namespace, peer: Namespace, budget: FlowBudget) -> FlowBudget:
        """Join a budget: a lower limit and a higher spent are written in one commit, a higher limit has no effect.

        A limit holds back no update: what was spent elsewhere is spent.
        Raises: ValueError (over 1,000 charges), SpentDecrease, StaleEpoch, UnknownEpoch; ChainFull and all after it in
            `charge_flow_budget`.
        """
        self._check_signer()

        def update(lake: DeltaBudget, run: RunContext) -> FlowBudget:
            for _ in range(ROUNDS):
                reading = lake.read()
                found = budget_update(reading.budget, budget)
                if found == BudgetUpdate(None, ()):
                    return reading.budget
                try:
                    if lake.insert(update_facts(lake, context, reading, found)):
                        run.faults.reach("effects.committed")
                        return lake.read().budget
                except WriteConflict:
                    continue
            raise ConcurrentUpdate

        return self._writing(context, peer, update)

    def _writing(
        self, context: Namespace, peer: Namespace, write: Callable[[DeltaBudget, RunContext], T]
    ) -> T:
        """Return what a call returns that writes charges and limits; if it wrote, it leaves a row in `run`."""
        run = self._call.context_of("effects", self._context)
        store = self._store(run)
        with SparkJobs(NoProgress()) as jobs:
            lake = self._budget(store, context, peer, jobs)
            found = write(lake, run)
        if lake.written is not None:
            counts, written = {"new": lake.written.inserted}, {FACTS: lake.written}
            record_run(store, run, RunResult(dialect=DIALECT, counts=counts, namespaces=1, written=written))
        return found

    def _check_signer(self) -> None:
        if self._signer is None or self._authority is None:
            raise NoSigner

    def _budget(self, store: TableStore, context: Namespace, peer: Namespace, jobs: Jobs) -> DeltaBudget:
        if self._authority is None:
            raise NoSigner
        return DeltaBudget(store, context, self._authority, peer, self._signer, jobs)

    def _store(self, run: RunContext) -> TableStore:
        """Return the tables for statements that are not repeated after a conflict."""
        once = self._call.settings.merge.model_copy(update={"attempts": 1})
        return TableStore(self._spark, self._location, Retry(once), run_id=run.run_id)

    def _facts(self, store: TableStore, version: int, namespace: Namespace) -> list[Fact]:
        rows = only_namespaces(store.read_version(FACTS, version), [namespace.text], store.buckets)
        return [stored_fact(bytes(row["fact_cbor"])) for row in rows.select("fact_cbor").collect()]
