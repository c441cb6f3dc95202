"""Commits to Delta tables: idempotent, retried on conflict, laid out by the contract."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, TypeVar

from pyspark.sql import SparkSession

from strandline.config.settings import Merge
from strandline.contracts.load import contract
from strandline.core.errors import FaultError
from strandline.core.sentences import first_ones
from strandline.tables.spark_errors import condition_of, spark_errors

T = TypeVar("T")

CONFLICTS: Final = frozenset(
    {
        "DELTA_CONCURRENT_APPEND", "DELTA_CONCURRENT_DELETE_DELETE", "DELTA_CONCURRENT_DELETE_READ",
        "DELTA_CONCURRENT_TRANSACTION", "DELTA_CONCURRENT_WRITE", "DELTA_METADATA_CHANGED", "DELTA_PROTOCOL_CHANGED",
    }
)  # fmt: skip
"""Conditions of a conflict with another writer: nothing was written, and the statement can be repeated."""

BUCKETS_SHOWN: Final = 20
"""Of a message: a statement can have 65,536."""
APPEND_ONLY: Final = "DELTA_CANNOT_MODIFY_APPEND_ONLY"
_NOT_NULL: Final = re.compile(
    r"DELTA_NOT_NULL_CONSTRAINT_VIOLATED\] NOT NULL constraint violated for column: ([^\s.]+)\."
)
_CONSTRAINT: Final = re.compile(r"DELTA_VIOLATE_CONSTRAINT_WITH_VALUES\] CHECK constraint (\w+)")

TXN_APP = "spark.databricks.delta.write.txnAppId"
TXN_VERSION = "spark.databricks.delta.write.txnVersion"
USER_METADATA = "spark.databricks.delta.commitInfo.userMetadata"
METADATA_OF_COMMIT = "userMetadata"
"""The key under which `commitInfo` and the history of a table have the value of `USER_METADATA`."""
REPARTITION = "spark.databricks.delta.merge.repartitionBeforeWrite.enabled"


@dataclass(frozen=True, slots=True)
class Retry:
    """Capped exponential backoff with full jitter.

    `sleep` takes seconds and `jitter` returns a number in [0, 1); a test can replace both.
    """

    policy: Merge
    sleep: Callable[[float], None] = time.sleep
    jitter: Callable[[], float] = field(default_factory=lambda: random.Random().random)

    def run(self, attempt: Callable[[], T], *, table: str, buckets: tuple[int, ...]) -> T:
        """Return the result of `attempt`, which is repeated after a conflict with another writer.

        Raises: FaultError `WRITE_CONFLICT` after the last attempt, with the table, the buckets and the other commit;
        `CONSTRAINT_BROKEN`, `TABLE_APPEND_ONLY`.
        """
        tries = self.policy.attempts
        for tried in range(1, tries + 1):
            try:
                with refusals_named(table):
                    return attempt()
            except spark_errors() as conflict:
                if condition_of(conflict) not in CONFLICTS:
                    raise
                if tried == tries:
                    raise _lost(table, buckets, tries, conflict) from conflict
                longest = min(
                    self.policy.max_delay_seconds, self.policy.base_delay_seconds * 2 ** (tried - 1)
                )
                self.sleep(longest * self.jitter())
        raise ValueError("merge.attempts is at least 1")


@contextmanager
def refusals_named(table: str) -> Iterator[None]:
    """Raise a fault with the table's name instead of Spark's error if what an operator did to it refuses a commit.

    Raises: FaultError `CONSTRAINT_BROKEN`, `TABLE_APPEND_ONLY`.
    """
    try:
        yield
    except spark_errors() as error:
        fault = _refused(table, error)
        if fault is None:
            raise
        raise fault from error


def _refused(table: str, error: Exception) -> FaultError | None:
    """Return the fault, or None also for a constraint of the contract: only a bug of Strandline violates one."""
    if condition_of(error) == APPEND_ONLY:
        return FaultError(
            code="TABLE_APPEND_ONLY",
            message=f"The table {table} has the property delta.appendOnly, so its rows cannot be changed or deleted.",
            next="Set it to false by ALTER TABLE .. SET TBLPROPERTIES, and run the same command again.",
        )
    check, column = _CONSTRAINT.search(str(error)), _NOT_NULL.search(str(error))
    if check is not None and check[1].lower() not in contract(table).checks:
        return FaultError(
            code="CONSTRAINT_BROKEN",
            message=(
                f"A new row violates the CHECK constraint {check[1]} of the table {table}, which Strandline did not "
                "create."
            ),
            next=f"Drop it by ALTER TABLE .. DROP CONSTRAINT {check[1]}, and run the same command again.",
        )
    required = {each.name for each in contract(table).columns if each.required}
    if column is not None and column[1] not in required:
        is_ours = column[1] in contract(table).names
        reason = (
            "by its contract it may be" if is_ours else "Strandline did not create it and writes no value"
        )
        return FaultError(
            code="CONSTRAINT_BROKEN",
            message=f"The table {table} has a column {column[1]} that must not be null, but {reason}.",
            next=f"Use ALTER TABLE .. ALTER COLUMN {column[1]} DROP NOT NULL, and run the same command again.",
        )
    return None


def _lost(table: str, buckets: tuple[int, ...], tries: int, conflict: Exception) -> FaultError:
    where = first_ones(buckets, BUCKETS_SHOWN) or "all"
    other = str(conflict).partition("\n\n")[0][:600]
    return FaultError(
        code="WRITE_CONFLICT",
        message=f"Other writers were faster {tries} times on the table {table}, buckets {where}; the last: {other}",
        next="Run the same command again: its commits stay, and records are never written twice.",
    )


@contextmanager
def session_settings(spark: SparkSession, settings: Mapping[str, str | None]) -> Iterator[None]:
    """Set session settings for one statement, or take them away (None), then restore the previous values."""
    before = {name: spark.conf.get(name, None) for name in settings}
    for name, value in settings.items():
        if value is None:
            spark.conf.unset(name)
        else:
            spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, old in before.items():
            if old is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, old)


@contextmanager
def current_schema(spark: SparkSession, catalog: str, schema: str) -> Iterator[None]:
    """Make a schema the current one for the block."""
    before_catalog, before = spark.catalog.currentCatalog(), spark.catalog.currentDatabase()
    spark.catalog.setCurrentCatalog(catalog)
    spark.catalog.setCurrentDatabase(schema)
    try:
        yield
    finally:
        spark.catalog.setCurrentCatalog(before_catalog)
        spark.catalog.setCurrentDatabase(before)


def transaction(app_id: str, version: int, run_id: str) -> dict[str, str]:
    """Return the settings that make one commit idempotent and name its run in the table's history.

    Delta skips a commit with an (application id, version) that the table already has. The application id contains the
    run id and a statement number, so only a retry of the same statement is skipped.
    """
    return {TXN_APP: app_id, TXN_VERSION: str(version), USER_METADATA: run_id}


def without_transaction(run_id: str) -> dict[str, str | None]:
    """Return the settings that name the run of a commit that changes nothing if it is repeated.

    To look for an application id Delta computes the whole state of the table, which it has no other use for, and it
    keeps every id for ever.
    """
    return {TXN_APP: None, TXN_VERSION: None, USER_METADATA: run_id}
