"""The rows that another lake holds and this one lacks: files to judge, and what breaks the contract of its table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.contracts.load import contract
from strandline.core.errors import FaultError
from strandline.dialect_api.admission import Admission
from strandline.dialect_api.dialect import Dialect
from strandline.frames.differences import numbered
from strandline.frames.row_rules import BROKEN, as_findings, keeps_contract
from strandline.pipelines.comparison import Comparison, rows_of
from strandline.pipelines.spark_jobs import SparkJobs
from strandline.tables.other_lake import OtherLake


class RowsLost(FaultError):  # noqa: N818 - the product's own word
    """Not every row of another lake arrived: its files have other rows than its log tells. Exit code 3."""

    def __init__(self, records: int, read: int) -> None:
        super().__init__(
            "ROWS_LOST",
            f"{records:,} rows of the other lake were to be read as records, {read:,} were, and none was written",
            "have the log of that lake mended, or ingest a file that it exported",
        )


@dataclass(frozen=True, slots=True)
class MovedRows:
    """Rows of another lake on their way into this one.

    `files` hold the `records` rows that keep their contracts: file_no, format, content (BINARY). `findings` are the
    `refused` other rows, as the quarantine takes them. Both are kept.
    """

    files: DataFrame
    records: int
    findings: DataFrame
    refused: int

    def check(self, admission: Admission) -> None:
        """See that every row that was moved was read. Raises: RowsLost, before anything is written."""
        read = admission.counts["read"]
        if read != self.records:
            raise RowsLost(self.records, read)


def moved_rows(found: Comparison, there: OtherLake, dialect: Dialect, jobs: SparkJobs) -> MovedRows | None:
    """Return what the other lake has more, None if that is nothing: each row is in a file or among the findings."""
    missing = found.records + found.incomparable
    if not missing:
        return None
    rows = rows_of(found, there, dialect)
    broken = (
        as_findings(each.where(~keeps_contract()), contract(table).names, table=table, lake=there.name)
        for table, each in rows.items()
    )
    findings = jobs.checkpoint(reduce(DataFrame.unionByName, broken), "rows that break their contract")
    refused = jobs.row(findings.agg(F.count(F.lit(1)).alias("rows")))["rows"]
    sound = {table: each.where(keeps_contract()).drop(BROKEN) for table, each in rows.items()}
    files = jobs.checkpoint(numbered(dialect.to_files(sound, there, jobs)), "files")
    return MovedRows(files, missing - refused, findings, refused)
