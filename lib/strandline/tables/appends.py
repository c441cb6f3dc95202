"""Appends to a table: a row in a local lake with delta-rs, in a hundredth of the time of a Spark job."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from strandline.contracts.ddl import CHECK_PROPERTY
from strandline.contracts.load import contract
from strandline.tables.commits import (
    METADATA_OF_COMMIT,
    TXN_APP,
    USER_METADATA,
    refusals_named,
    session_settings,
)
from strandline.tables.reads import TableReads

if TYPE_CHECKING:
    from deltalake import DeltaTable
    from pyspark.sql import DataFrame

ATTEMPTS: Final = 5
"""How often a row is appended: another process may change the properties of the table, as `maintain` does."""
FEATURES_FROM: Final = 7
"""From this version of Delta's writer protocol, a table names each feature that a writer must support."""


def append(
    tables: TableReads, table: str, row: Mapping[str, object], settings: Mapping[str, str], at: datetime
) -> None:
    """Append a row as one commit; missing columns are null. `settings` are those of `commits.transaction`.

    Delta forgets their application id some days after `at`, as the table says; without a time it never does.

    Raises: FaultError TABLE_DAMAGED, CONSTRAINT_BROKEN; the errors of Spark or delta-rs if the row cannot be written.
    """
    opened = tables.delta_rs_table(table)
    if opened is not None and can_append(opened, table):
        append_with_delta_rs(opened, row, settings, at)
    else:
        _append_with_spark(tables, table, row, settings)


def can_append(opened: DeltaTable, table: str) -> bool:
    """Return whether delta-rs can write the table.

    It has no table features (such as deletion vectors), and only the CHECK constraints and columns of its contract.
    Others may need functions of Spark, a computed value or a value that is never null. If somebody made a column of the
    contract NOT NULL, the error of Spark becomes a fault, see `commits.refusals_named`.
    """
    ours = {f"{CHECK_PROPERTY}{name}".lower() for name in contract(table).checks}
    stated = {name.lower() for name in opened.metadata().configuration if name.startswith(CHECK_PROPERTY)}
    nullable = {column.name: not column.required for column in contract(table).columns}
    are_ours = all(
        field.name in nullable and (field.nullable or not nullable[field.name])
        for field in opened.schema().fields
    )
    is_plain = int(opened.protocol().min_writer_version) < FEATURES_FROM
    return is_plain and stated <= ours and are_ours


def append_with_delta_rs(
    opened: DeltaTable, row: Mapping[str, object], settings: Mapping[str, str], at: datetime
) -> None:
    """Append a row as one commit, unless the table has a commit with its application id, also one made meanwhile.

    delta-rs checks the constraints of the table.

    Raises: `DeltaError` of delta-rs, or OSError without a number.
    """
    from deltalake import DeltaTable
    from deltalake.exceptions import CommitFailedError

    for attempt in range(1, ATTEMPTS + 1):
        if opened.transaction_version(settings[TXN_APP]) is not None:
            return
        try:
            _write(opened, row, settings, at)
            return
        except CommitFailedError:
            # Another process made this commit after the table was opened, or changed what the table is.
            if attempt == ATTEMPTS:
                raise
            opened = DeltaTable(opened.table_uri)


def _write(opened: DeltaTable, row: Mapping[str, object], settings: Mapping[str, str], at: datetime) -> None:
    from deltalake import (
        CommitProperties,
        PostCommitHookProperties,
        Transaction,
        WriterProperties,
        write_deltalake,
    )

    schema = pa.schema(opened.schema().to_arrow())
    values = {name: _arrow_value(row.get(name)) for name in schema.names}
    write_deltalake(
        opened,
        pa.Table.from_pylist([values], schema=schema),
        mode="append",
        writer_properties=WriterProperties(compression="ZSTD"),
        commit_properties=CommitProperties(
            custom_metadata={METADATA_OF_COMMIT: settings[USER_METADATA]},
            app_transactions=[Transaction(settings[TXN_APP], 0, last_updated=round(at.timestamp() * 1000))],
        ),
        # As with Spark, only maintenance removes old commits.
        post_commithook_properties=PostCommitHookProperties(cleanup_expired_logs=False),
    )


def _append_with_spark(
    tables: TableReads, table: str, row: Mapping[str, object], settings: Mapping[str, str]
) -> None:
    schema = tables.schema(table)
    values = tuple(row.get(name) for name in schema.names)
    with session_settings(tables.spark, settings), refusals_named(table):
        append_rows(tables, table, tables.spark.createDataFrame([values], schema))


def append_rows(tables: TableReads, table: str, rows: DataFrame) -> None:
    """Append rows through Spark in one commit. Raises: the errors of Spark."""
    writer = rows.write.format("delta").mode("append")
    if tables.location.is_path():
        writer.save(tables.location.table_path(table))
    else:
        writer.saveAsTable(tables.target(table))


def _arrow_value(value: object) -> Any:
    """Return a map as Arrow takes it: as pairs."""
    return list(value.items()) if isinstance(value, Mapping) else value
