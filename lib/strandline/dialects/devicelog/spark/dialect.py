"""Device logs as the object that the pipelines call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pyspark.sql import DataFrame

from strandline.contracts.shared_tables import EQUIVOCATIONS
from strandline.dialect_api.demo import Demo
from strandline.dialect_api.export import ExportFile
from strandline.dialect_api.ports import Jobs, LakeSnapshot, OtherLakeSnapshot, Tables
from strandline.dialect_api.pruning import PrunePlan, Prunes, PruneScope, ReducedTables
from strandline.dialect_api.reduction import ReduceScope, Reduction
from strandline.dialects.devicelog import demo as demo_files
from strandline.dialects.devicelog.codec import (
    DOCUMENT_FORMATS,
    entry_content,
    parse_hmac_key,
    read_documents,
    ssb_content,
)
from strandline.dialects.devicelog.info import SSB_HMAC_KEY, SSB_PROFILE
from strandline.dialects.devicelog.spark import export as export_files
from strandline.dialects.devicelog.spark import forks, pruning, reduction
from strandline.dialects.devicelog.spark.admission import EntryAdmission
from strandline.dialects.devicelog.spark.tables import ENTRIES


class DeviceLogs(EntryAdmission, Prunes):
    """Logs of the devices of a user, and Scuttlebutt feeds."""

    def count_records(self, content: bytes, format: str | None) -> int:  # noqa: A002 - the option's name
        """Return the number of records in a file of that format, with bad ones, as counted in `read`."""
        [name] = [each for each in DOCUMENT_FORMATS if each == format]
        return sum(1 for _ in read_documents(content, name))

    def reduce(self, changes: DataFrame | None, tables: Tables, jobs: Jobs, scope: ReduceScope) -> Reduction:
        """Reduce the groups that `changes` touch, or all, and find the forks of their logs."""
        new_entries = reduction.new_entries_of(changes, tables, jobs, scope)
        reduced = reduction.reduce(new_entries, tables, jobs, scope)
        hmac_key = scope.lake_options[SSB_HMAC_KEY]
        found = forks.forks(
            tables.read_version(ENTRIES, scope.version), new_entries,
            is_weak=scope.lake_options[SSB_PROFILE] == "weak",
            hmac_key=parse_hmac_key(hmac_key) if hmac_key else None,
        )  # fmt: skip
        if new_entries is None:
            found = forks.with_forks_of_erased(found, tables, jobs)
        return replace(reduced, tables={**reduced.tables, EQUIVOCATIONS: found})

    def plan_pruning(self, tables: Tables, jobs: Jobs, scope: PruneScope) -> PrunePlan:
        """Say of each message whether its body may be erased."""
        return pruning.plan(tables, jobs, scope)

    def skeletons_of(self, plan: PrunePlan, chosen: DataFrame, jobs: Jobs) -> DataFrame:  # noqa: ARG002 - the interface has them
        """Return no skeletons: rows of entries stay."""
        return pruning.skeletons(chosen)

    def carries_of(self, plan: PrunePlan, chosen: DataFrame) -> DataFrame:  # noqa: ARG002
        """Return carries that say nothing but their version."""
        return pruning.carries(plan)

    def reduce_rest(
        self,
        plan: PrunePlan,
        skeletons: DataFrame,
        carries: DataFrame,  # noqa: ARG002
        tables: Tables,  # noqa: ARG002
        jobs: Jobs,
        scope: PruneScope,
    ) -> ReducedTables:
        """Reduce groups without the chosen bodies."""
        return pruning.reduce_rest(plan, skeletons, jobs, scope)

    def export(self, lake: LakeSnapshot, jobs: Jobs, namespaces: Sequence[str]) -> ExportFile:
        """Write entries as lines of JSON."""
        return export_files.export(lake, jobs, namespaces)

    def to_files(self, rows: Mapping[str, DataFrame], there: OtherLakeSnapshot, jobs: Jobs) -> DataFrame:  # noqa: ARG002
        """Write entries as lines of JSON."""
        return export_files.to_files(rows)

    def hashed_content(self, row: Mapping[str, Any]) -> bytes:
        """Return the netstrings of an entry, with the hash of its body; of a message the low bytes of its text."""
        if row["profile"] == "ssb":
            return ssb_content(bytes(row["raw"]).decode())
        record_id, prev = bytes(row["record_id"]), row["prev"]
        group = bytes.fromhex(row["namespace"].partition(":")[2])
        return entry_content(
            group=None if group == record_id else group, log=bytes(row["log"]), seq=row["seq"], kind=row["kind"],
            lamport=row["lamport"], utc=row["utc"], prev=None if prev is None else bytes(prev),
            deps=[bytes(each) for each in row["deps"]], body_size=row["body_size"], body_hash=bytes(row["body_hash"]),
        )  # fmt: skip

    def demo(self) -> Demo:
        """Return the log of a phone and that of a computer, which were apart, and an entry that was changed."""
        return demo_files.demo()


DEVICELOG = DeviceLogs()
