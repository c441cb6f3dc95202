"""The rows that this lake lacks: as files to judge, and as findings if they break the contract of their table."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.contracts.load import contract
from strandline.core.errors import FaultError
from strandline.dialect_api.admission import Admission
from strandline.dialect_api.dialect import Dialect
from strandline.frames.differences import numbered
from strandline.frames.row_rules import BROKEN, as_findings, keeps_contract
from strandline.frames.union import union
from strandline.pipelines.comparison import Comparison, rows_of
from strandline.pipelines.spark_jobs import SparkJobs
from strandline.tables.other_lake import OtherLake


class RowsLost(FaultError):  # noqa: N818 - the product's own word
    """The files of another lake do not have the rows that its Delta log lists. Exit code 3."""

    def __init__(self, records: int, read: int) -> None:
        super().__init__(
            "ROWS_LOST",
            f"{read:,} of {records:,} missing rows of the other lake could be read, so none was written",
            "repair the Delta log of that lake, or ingest a file that it exported",
        )


@dataclass(frozen=True, slots=True)
class MissingRows:
    """Rows of another lake that this one lacks.

    `files` hold the `records` rows that meet their contracts: file_no, format, content (BINARY). `findings` are the
    `refused` other rows, in the shape of findings for the quarantine. Both are checkpointed.
    """

    files: DataFrame
    records: int
    findings: DataFrame
    refused: int

    def check(self, admission: Admission) -> None:
        """Check that every missing row was read, before any is written. Raises: RowsLost."""
        read = admission.counts["read"]
        if read != self.records:
            raise RowsLost(self.records, read)


def missing_rows(
    found: Comparison, there: OtherLake, dialect: Dialect, jobs: SparkJobs
) -> MissingRows | None:
    """Return the missing rows, each in a file or among the findings; None if no row is missing."""
    missing = found.records + found.incomparable
    if not missing:
        return None
    rows = rows_of(found, there, dialect, jobs)
    broken = (
        as_findings(each.where(~keeps_contract()), contract(table).names, table=table, lake=there.name)
        for table, each in rows.items()
    )
    findings = jobs.checkpoint(union(broken), "rows that break their contract")
    refused = jobs.row(findings.agg(F.count(F.lit(1)).alias("rows")))["rows"]
    sound = {table: each.where(keeps_contract()).drop(BROKEN) for table, each in rows.items()}
    files = jobs.checkpoint(numbered(dialect.to_files(sound, there, jobs)), "files")
    return MissingRows(files, missing - refused, findings, refused)
