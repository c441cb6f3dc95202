"""Aura journals as the object that the pipelines call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame

from strandline.dialect_api.demo import Demo
from strandline.dialect_api.export import ExportFile
from strandline.dialect_api.info import GivenOption
from strandline.dialect_api.ports import Jobs, LakeSnapshot, OtherLakeSnapshot, Tables
from strandline.dialect_api.pruning import PrunePlan, Prunes, PruneScope, ReducedTables
from strandline.dialect_api.reduction import ReduceScope, Reduction
from strandline.dialects.aura import demo as demo_files
from strandline.dialects.aura.codec import DOCUMENT_FORMATS, fact_content, read_documents
from strandline.dialects.aura.info import PINS
from strandline.dialects.aura.spark import export as export_files
from strandline.dialects.aura.spark import pruning, reduction, stored_rows
from strandline.dialects.aura.spark.admission import FactAdmission
from strandline.dialects.aura.spark.contexts import reduction as contexts
from strandline.dialects.aura.spark.retained_operations import pruned_operations
from strandline.dialects.aura.spark.touched import touched
from strandline.dialects.aura.verify.pins import Pins, parse_pins


class Aura(FactAdmission, Prunes):
    """Journals of authorities and contexts."""

    def parse_options(self, given: Mapping[str, Sequence[GivenOption]]) -> Pins:
        """Return the pins.

        Raises: UsageError AURA_PINS_INVALID.
        """
        [file] = given[PINS]
        return parse_pins(file.content or b"", file.text)

    def count_records(self, content: bytes, format: str | None) -> int:  # noqa: A002 - the option's name
        """Return the number of records in a file of that format, with bad ones, as counted in `read`."""
        [name] = [each for each in DOCUMENT_FORMATS if each == format]
        return sum(1 for _ in read_documents(content, name))

    def reduce(self, changes: DataFrame | None, tables: Tables, jobs: Jobs, scope: ReduceScope) -> Reduction:
        """Reduce the authorities that `changes` touch, then the contexts that it or they touch, or all."""
        found = touched(changes, tables, jobs, scope)
        pruned = pruned_operations(tables, jobs)
        authorities = reduction.reduce(found, pruned, tables, jobs, scope)
        return contexts.reduce(found, authorities, pruned, tables, jobs, scope)

    def plan_pruning(self, tables: Tables, jobs: Jobs, scope: PruneScope) -> PrunePlan:
        """Give the rule (hold) that keeps each charge, checkpoint, proposed bump and operation; null if prunable."""
        return pruning.plan(tables, jobs, scope)

    def skeletons_of(self, plan: PrunePlan, chosen: DataFrame, jobs: Jobs) -> DataFrame:
        """Return the skeletons of chosen charges and operations; other facts have none."""
        return pruning.skeletons(plan, chosen, jobs)

    def carries_of(self, plan: PrunePlan, chosen: DataFrame) -> DataFrame:
        """Return the sums of all pruned charges of each context, the state of the base of each authority."""
        return pruning.carries(plan, chosen)

    def reduce_rest(
        self,
        plan: PrunePlan,
        skeletons: DataFrame,
        carries: DataFrame,
        tables: Tables,  # noqa: ARG002 - the interface has it
        jobs: Jobs,
        scope: PruneScope,  # noqa: ARG002
    ) -> ReducedTables:
        """Reduce namespaces from the facts that stay, the new skeletons and the new carries."""
        return pruning.reduce_rest(plan, skeletons, carries, jobs)

    def lasting(self, rows: ReducedTables, chosen: DataFrame) -> ReducedTables:
        """Leave out the rows of chosen operations, and evidence that shows one, which stays unchanged."""
        return stored_rows.without_pruned(rows, chosen)

    def rows_of(self, chosen: DataFrame, tables: Tables) -> ReducedTables:
        """Return the keys of the rows of chosen operations."""
        return stored_rows.of_pruned(tables, chosen)

    def still_holds(self, plan: PrunePlan, tables: Tables, jobs: Jobs) -> bool:
        """Return whether the snapshots in force prove the same states of members now."""
        return pruning.still_holds(plan, tables, jobs)

    def export(self, lake: LakeSnapshot, jobs: Jobs, namespaces: Sequence[str]) -> ExportFile:
        """Write facts as lines of JSON."""
        return export_files.export(lake, jobs, namespaces, "lines")

    def export_as(
        self,
        lake: LakeSnapshot,
        jobs: Jobs,
        namespaces: Sequence[str],
        format: str,  # noqa: A002 - the option's name
    ) -> ExportFile:
        """Write facts as lines of JSON, as the journal document of one namespace, or as a CBOR sequence."""
        [form] = [each for each in DOCUMENT_FORMATS if each == format]
        return export_files.export(lake, jobs, namespaces, form)

    def to_files(
        self,
        rows: Mapping[str, DataFrame],
        there: OtherLakeSnapshot,  # noqa: ARG002 - the interface has it
        jobs: Jobs,  # noqa: ARG002
    ) -> DataFrame:
        """Write facts as lines of JSON."""
        return export_files.to_files(rows)

    def hashed_content(self, row: Mapping[str, Any]) -> bytes:
        """Return the tag of facts, 00 and the encoding of a fact."""
        return fact_content(bytes(row["fact_cbor"]))

    def demo(self) -> Demo:
        """Return an authority whose history forks, and a forged operation."""
        return demo_files.demo()


AURA = Aura()
