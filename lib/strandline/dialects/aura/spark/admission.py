"""The stages of admission that are specific to facts: histories first, then facts that name states of authorities.

Operations and geneses of contexts need only facts of their own namespace, so one kernel judges each namespace whole.
All other facts need states and members, which are known by then: one join each. No fact waits for a later pass.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.dialect_api.admission import Admission, AdmitRequest
from strandline.dialect_api.ports import InputScan, Jobs, Tables
from strandline.dialect_api.records import RecordDialect
from strandline.dialect_api.stages import Gathered, Resolution
from strandline.dialects.aura import kernels
from strandline.dialects.aura.info import INFO
from strandline.dialects.aura.spark.known_states import GENESIS, geneses, known_states
from strandline.dialects.aura.spark.pins import check_pins
from strandline.dialects.aura.spark.retained_operations import (
    PrunedOperations,
    pruned_operations,
    with_remains,
)
from strandline.dialects.aura.spark.tables import FACTS
from strandline.dialects.aura.verify.pins import Pins
from strandline.frames.buckets import bucket_of, in_buckets
from strandline.frames.lift import map_batches
from strandline.frames.union import union
from strandline.frames.verdicts import VERDICT, is_candidate, with_outcome
from strandline.kernels.blocks import BLOCK_FIELDS

_AWAITED = "^(?:pin|state):([^#]*)"
"""In what a row waits for, the namespace that must change first."""


class FactAdmission(RecordDialect):
    """Admission of facts, with the pins of a run."""

    info = INFO
    document_fields = BLOCK_FIELDS
    judged = kernels.JUDGED
    links = None
    open_reasons = ("GENESIS_PIN_MISMATCH",)

    read_content = staticmethod(kernels.read_content)
    judge = staticmethod(kernels.judge)
    replay = staticmethod(kernels.replay)

    def __init__(self, pins: Pins | None = None) -> None:
        self.pins = pins

    def admit(self, scan: InputScan, tables: Tables, jobs: Jobs, request: AdmitRequest) -> Admission:
        """Judge one batch with the pins of the request.

        Raises: UsageError AURA_PIN_CONTRADICTED, before anything is read.
        """
        if not isinstance(request.options, Pins) or self.pins is not None:
            return super().admit(scan, tables, jobs, request)
        check_pins(tables, jobs, request.options)
        return type(self)(request.options).admit(scan, tables, jobs, request)

    def recall(self, waiting: DataFrame, gathered: Gathered) -> DataFrame:
        """Return the waiting facts that need a namespace with a new operation, a new genesis or a pin.

        After a killed run, all waiting facts.
        """
        if gathered.tables.begin_repair(self.info.ingest_tables):
            return waiting
        changed = gathered.judged.where(is_candidate() & _is_of_history()).select("namespace").distinct()
        if self.pins is not None and self.pins.by_namespace:
            names = [(name,) for name in self.pins.by_namespace]
            pinned = waiting.sparkSession.createDataFrame(names, "namespace STRING")
            changed = changed.unionByName(pinned).distinct()
        each = waiting.select("quarantine_id", F.explode("waits_for").alias("awaited"))
        awaited = each.select("quarantine_id", F.regexp_extract("awaited", _AWAITED, 1).alias("namespace"))
        found = awaited.join(changed, "namespace", "left_semi").select("quarantine_id").distinct()
        return waiting.join(found, "quarantine_id", "left_semi").select(*waiting.columns)

    def resolve(self, judged: DataFrame, gathered: Gathered) -> Resolution:
        """Judge the facts that depend on other facts."""
        jobs, tables = gathered.jobs, gathered.tables
        valid = judged.where(is_candidate())
        found = jobs.row(_needs(valid, tables.buckets))
        # Read the records first, then the pruned ones: otherwise a deletion could be seen without its row in
        # `pruned_record`.
        facts = tables.read(FACTS)
        pruned = pruned_operations(tables, jobs) if any(found) else None
        passes = []
        pins = {} if self.pins is None else self.pins.by_namespace
        if found["histories"]:
            of_histories = _of_histories(valid, facts, pruned, tuple(sorted(found["histories"])), pins)
            passes.append(jobs.checkpoint(of_histories, "histories"))
        if found["others"]:
            histories = passes[0] if passes else None
            buckets = (tuple(sorted(found["others"])), tuple(sorted(found["authorities"])))
            of_others = _of_others(valid, histories, facts, pruned, *buckets)
            passes.append(jobs.checkpoint(of_others, "attested facts"))
        if not passes:
            empty = map_batches(judged.where(F.lit(False)), kernels.attested, kernels.VERDICT_SCHEMA)
            passes.append(empty)
        verdicts = union(passes).drop("namespace")
        concluded = with_outcome(judged.join(verdicts, "judge_id", "left"))
        concluded = concluded.withColumn("is_signed", F.coalesce("is_verified", F.lit(False)))
        return Resolution(concluded, concluded.select(*VERDICT, "is_recalled"))

    def as_records(self, accepted: DataFrame, buckets: int) -> DataFrame:
        """Shape accepted facts to the contract of `aura_fact`.  Rows: one per row."""
        names = [field.name for field in (*kernels.FACT_FIELDS, *kernels.DERIVED_FIELDS)]
        columns = [F.col("fact_kind").alias("kind") if name == "fact_kind" else F.col(name) for name in names]
        return accepted.select(
            "namespace", bucket_of(F.col("namespace"), buckets).alias("bucket"), "record_id", *columns,
            F.col("block").alias("fact_cbor"), "source",
        )  # fmt: skip


def _is_of_history(kind: str = "fact_kind") -> Column:
    """Return whether a fact depends only on its namespace: an operation, or the genesis of a context.

    `kind` is the column of its kind: of stored facts `kind`.
    """
    return (F.col(kind) == "AttestedOp") | (F.col("variant") == GENESIS)


def _needs(valid: DataFrame, buckets: int) -> DataFrame:
    """Return the buckets of the lake with the rows that valid facts are judged against.

    Gives:  histories (of operations and geneses), others (of all other facts), authorities (of the states that these
            name); each empty without such facts.
    Rows:   one.
    """
    each = valid.withColumn("named", F.explode_outer("named_states"))
    own, of_authority = (bucket_of(F.col(name), buckets) for name in ("namespace", "named.authority"))
    return each.agg(
        F.collect_set(F.when(_is_of_history(), own)).alias("histories"),
        F.collect_set(F.when(~_is_of_history(), own)).alias("others"),
        F.collect_set(F.when(F.col("named").isNotNull(), of_authority)).alias("authorities"),
    )


def _of_histories(
    valid: DataFrame,
    facts: DataFrame,
    pruned: PrunedOperations | None,
    buckets: tuple[int, ...],
    pins: Mapping[str, bytes],
) -> DataFrame:
    """Judge operations and geneses, each namespace as one group with its accepted and its pruned facts.

    Gives:  `kernels.VERDICT_SCHEMA`.  Rows: one per candidate. A task holds the facts of one namespace at a time.
    """
    columns = ["namespace", "judge_id", "parent_commitment", "block", "is_stored"]
    candidates = valid.where(_is_of_history()).withColumn("is_stored", F.lit(False)).select(*columns)
    stored = facts.where(in_buckets(buckets) & _is_of_history("kind"))
    stored = stored.select(
        "namespace", F.col("record_id").alias("judge_id"), "parent_commitment",
        F.col("fact_cbor").alias("block"), F.lit(True).alias("is_stored"),
        *(() if pruned is None else kernels.DERIVED),
    ).join(candidates.select("namespace").distinct(), "namespace", "left_semi")  # fmt: skip
    together = candidates.unionByName(stored, allowMissingColumns=True)
    grouped = with_remains(together, pruned, kernels.GROUP_COLUMNS)
    return map_batches(grouped, kernels.admitted, kernels.VERDICT_SCHEMA, pins=dict(pins))


def _of_others(
    valid: DataFrame,
    histories: DataFrame | None,
    facts: DataFrame,
    pruned: PrunedOperations | None,
    buckets: tuple[int, ...],
    of_authorities: tuple[int, ...],
) -> DataFrame:
    """Judge the facts that name states of authorities, with the states and the genesis that are known.

    `buckets` are those of the facts, `of_authorities` those of the authorities that they name.
    Gives:  `kernels.VERDICT_SCHEMA`.  Rows: one per fact.
    """
    others = valid.where(~_is_of_history()).select("judge_id", "namespace", "block", "named_states")
    states = known_states(histories, facts, pruned, of_authorities)
    named = others.select("judge_id", F.explode("named_states").alias("named")).select("judge_id", "named.*")
    known = named.distinct().join(states, ["authority", "commitment"])
    state = F.struct("authority", "commitment", "epoch", "group_key")
    of_facts = known.groupBy("judge_id").agg(F.collect_list(state).alias("states"))
    rows = others.join(of_facts, "judge_id", "left").join(
        geneses(valid, histories, facts, buckets), "namespace", "left"
    )
    return map_batches(rows.select(*kernels.ATTESTED_COLUMNS), kernels.attested, kernels.VERDICT_SCHEMA)
