"""A flow budget in the tables of a lake: read at one version, charged by rows that go into a slot."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.contracts.merge import SLOT
from strandline.core.errors import FaultError
from strandline.core.ids import bucket_of
from strandline.core.verdict import reasons_of
from strandline.dialect_api.ports import Jobs
from strandline.dialects.aura.author import relational
from strandline.dialects.aura.author.charges import BudgetReading, FlowBudget, PlannedCharge, WriteConflict
from strandline.dialects.aura.codec import ShapeRefused, encode, stored_fact
from strandline.dialects.aura.reduce.contexts import FlowKey, effective_limit
from strandline.dialects.aura.spark.authored import fact_rows
from strandline.dialects.aura.spark.contexts.budgets import cap_of_member, flow_of, has_request, taken_orders
from strandline.dialects.aura.spark.contexts.retained import retained_facts
from strandline.dialects.aura.spark.tables import FACTS
from strandline.dialects.aura.types import Fact, Namespace
from strandline.dialects.aura.verify import KnownState, State, judge_attested, rule_findings
from strandline.effects.errors import (
    AttestationRefused,
    CarryDamaged,
    NoSigner,
    NotAMember,
    PartySelf,
    StaleState,
    UnknownContext,
)
from strandline.effects.known import current_state
from strandline.frames.namespaces import only_namespaces
from strandline.tables.store import TableStore
from strandline.tables.written import Written

AttestBody = Callable[[bytes], Mapping[str, bytes]]
"""From a body id to an attestation (authority, commitment, sig): a device, or a round of FROST."""


class DeltaBudget:
    """The budget of an authority to a peer in a context, in `aura_fact`: a `ChargeLake`.

    Each charge reads the newest version. Another writer with the same tip computes the same slot, so one MERGE of the
    two finds the slot taken, or conflicts with the other one and is not repeated: the budget is judged again. A
    reading is used before `jobs` releases its frames.
    """

    def __init__(
        self,
        store: TableStore,
        context: Namespace,
        authority: Namespace,
        peer: Namespace,
        signer: AttestBody | None,
        jobs: Jobs,
    ) -> None:
        """Take tables whose statements are not repeated after a conflict."""
        self._store = store
        self._jobs = jobs
        self._buckets = store.buckets
        self._context, self._authority, self._peer = context, authority, peer
        self._signer = signer
        self._members: frozenset[bytes] | None = None
        self._state: State | None = None
        self.written: Written | None = None

    def read(self) -> BudgetReading:
        """Return the budget at the newest version, in the epoch of the authority's tip.

        Charges that `gc` pruned count by what they add up to; their requests and orders are forgotten.
        Raises: PartySelf, UnknownContext, NotAMember, AuthorityUnknown, CarryDamaged.
        """
        if self._authority == self._peer:
            raise PartySelf(self._authority)
        version = self._store.version(FACTS)
        retained = retained_facts(self._facts(self._context, version), self._store, self._jobs)
        retained = retained.where(F.col("namespace") == self._context.text)
        damaged = retained.damaged()
        if damaged is not None and self._jobs.has_rows(damaged):
            raise CarryDamaged(self._context)
        facts = retained.facts
        if self._members is None:
            self._members = self._read_members(facts)
        self._state = current_state(self._store, self._authority, version, self._jobs)
        key = FlowKey(self._authority.id, self._peer.id, self._state.epoch)
        flow = flow_of(retained, key, self._jobs)
        limit = effective_limit(flow, cap_of_member(facts, key.src, self._jobs))
        return BudgetReading(
            key,
            FlowBudget(limit, flow.spent, key.epoch),
            flow.tip,
            partial(has_request, facts, key.src, jobs=self._jobs),
            # A slot is also held by facts that do not count: copies of pruned bodies.
            partial(taken_orders, retained.stored, jobs=self._jobs),
        )

    def prepare(self, charge: PlannedCharge) -> Fact:
        """Sign a charge.  Raises: as `signed`."""
        key = charge.key
        members = {
            "context": self._context.id, "src": key.src, "dst": key.dst, "epoch": key.epoch, "cost": charge.cost,
            "nonce": charge.nonce, "prev": charge.prev,
        }  # fmt: skip
        when = {"OrderClock": charge.time}
        return self.signed(
            relational(self._context, "FlowCharge", members, order=charge.slot, timestamp=when)
        )

    def signed(self, fact: Fact) -> Fact:
        """Return a fact with the attestation of the authority; both were verified as `ingest` does.

        Raises: NoSigner, StaleState, AttestationRefused.
        """
        if self._signer is None:
            raise NoSigner
        if self._state is None or self._state.key is None:
            raise ValueError("a fact is signed at the state that was read")
        entry = dict(self._signer(fact.body_id))
        try:
            signed = encode({**fact.value, "attest": [entry]})
        except ShapeRefused as refused:
            raise AttestationRefused((refused.reason,)) from None
        [attestation] = signed.attest
        if attestation.commitment != self._state.commitment:
            raise StaleState(self._state.commitment, attestation.commitment)
        if broken := rule_findings(signed):
            raise AttestationRefused(reasons_of(broken))
        state = KnownState(self._state.epoch, self._state.key.group_key)
        verdict = judge_attested(signed, {(self._authority.id, self._state.commitment): state}, self._members)
        if verdict.status != "accepted":
            raise AttestationRefused(verdict.reasons)
        return signed

    def commit(self, prepared: Fact) -> bool:
        """Insert one charge.  Raises: as `insert`."""
        return self.insert([prepared])

    def insert(self, facts: Sequence[Fact]) -> bool:
        """Insert all facts in one commit, or none if a fact of the context has the order token of the first.

        Raises: WriteConflict.
        """
        rows = fact_rows(self._store.spark, facts, self._buckets).withColumn(SLOT, F.lit(facts[0].order))
        bucket = bucket_of(self._context.text, self._buckets)
        try:
            done = self._store.insert_at_slot(FACTS, rows, (bucket,), "order_token")
        except FaultError as error:
            if error.code != "WRITE_CONFLICT":
                raise
            # The commit may be there although its answer was a conflict: a second charge would count twice.
            done = self._store.merge_of(FACTS, self._store.run_id, Written(0))
            if not done.inserted:
                raise WriteConflict from error
        if done.inserted:
            self.written = done
        return done.inserted > 0

    def _facts(self, namespace: Namespace, version: int) -> DataFrame:
        return only_namespaces(self._store.read_version(FACTS, version), [namespace.text], self._buckets)

    def _read_members(self, facts: DataFrame) -> frozenset[bytes]:
        rows = self._jobs.few(facts.where(F.col("variant") == "ContextGenesis").select("fact_cbor"), 1)
        if not rows:
            raise UnknownContext(self._context)
        members = frozenset(stored_fact(bytes(rows[0]["fact_cbor"])).content["members"])
        for each in (self._authority, self._peer):
            if each.id not in members:
                raise NotAMember(self._context, each)
        return members
