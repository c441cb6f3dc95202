"""CREATE TABLE as text, rendered from a contract."""

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Final

from strandline.contracts.model import Column, Contract
from strandline.contracts.quoting import quote_name, quote_path, quote_text, with_buckets

__all__ = [
    "BUCKETS_PROPERTY",
    "CONTRACT_PROPERTY",
    "DELETION_VECTORS_PROPERTY",
    "add_checks_sql",
    "add_columns_sql",
    "check_sql",
    "columns_ddl",
    "create_table_sql",
    "quote_name",
    "quote_path",
    "quote_text",
    "set_contract_sql",
    "table_properties",
]

CONTRACT_PROPERTY: Final = "strandline.contract"
BUCKETS_PROPERTY: Final = "strandline.buckets"
DELETION_VECTORS_PROPERTY: Final = "delta.enableDeletionVectors"
CHECK_PROPERTY: Final = "delta.constraints."
"""What the property of a CHECK constraint begins with; its name follows."""
NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


def columns_ddl(contract: Contract) -> str:
    """Return the columns as Spark DDL: `namespace STRING NOT NULL COMMENT '..', ..`."""
    return ", ".join(map(_column_ddl, contract.columns))


def check_sql(contract: Contract, *, buckets: int) -> Mapping[str, str]:
    """Return the CHECK constraints of the table by name, for a lake with this number of buckets."""
    return {name: with_buckets(check, buckets) for name, check in contract.checks.items()}


def table_properties(
    contract: Contract, *, buckets: int, properties: Mapping[str, str] = NOTHING, with_checks: bool = True
) -> Mapping[str, str]:
    """Return all properties of the new table, ascending by name.

    These are: the properties of the contract, its version (`strandline.contract`), the number of buckets
    (`strandline.buckets`, if the table has buckets), each CHECK constraint (`delta.constraints.<name>`, unless
    `with_checks` is False), and `properties`, which override.
    """
    stated = check_sql(contract, buckets=buckets) if with_checks else {}
    checks = {f"{CHECK_PROPERTY}{name}": check for name, check in stated.items()}
    bucketed = {BUCKETS_PROPERTY: str(buckets)} if contract.is_bucketed else {}
    every = {**contract.properties, **checks, **bucketed, CONTRACT_PROPERTY: contract.version, **properties}
    return dict(sorted(every.items()))


def create_table_sql(
    contract: Contract, *, target: str, buckets: int, properties: Mapping[str, str] = NOTHING, with_checks: bool = True
) -> str:  # fmt: skip
    """Return the statement that creates the table if it does not exist.

    Args:
        contract: The table.
        target: Its name as SQL, from `quote_path` or `quote_name`.
        buckets: The number of buckets, in the CHECK constraint of `bucket` and in `strandline.buckets`.
        properties: Further properties, such as lake options of a dialect.
        with_checks: Whether the properties have the CHECK constraints; else `add_checks_sql` adds them.
    """
    columns = ",\n".join("  " + _column_ddl(column) for column in contract.columns)
    every = table_properties(contract, buckets=buckets, properties=properties, with_checks=with_checks)
    listed = ",\n".join(f"  {quote_text(name)} = {quote_text(value)}" for name, value in every.items())
    partitioned = f"PARTITIONED BY ({', '.join(contract.partition)})\n" if contract.partition else ""
    return (
        f"CREATE TABLE IF NOT EXISTS {target} (\n{columns}\n)\n"
        f"USING DELTA\n{partitioned}"
        f"COMMENT {quote_text(contract.description)}\n"
        f"TBLPROPERTIES (\n{listed}\n)"
    )


def add_checks_sql(
    contract: Contract, *, target: str, buckets: int, properties: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the statements that add the CHECK constraints that a table lacks, ascending by name.

    Args:
        contract: The table.
        target: Its name as SQL, from `quote_path` or `quote_name`.
        buckets: The number of buckets of the lake.
        properties: The properties of the table. Delta writes names of constraints in lower case.
    """
    present = {name.lower() for name in properties}
    return tuple(
        f"ALTER TABLE {target} ADD CONSTRAINT {name} CHECK ({check})"
        for name, check in sorted(check_sql(contract, buckets=buckets).items())
        if f"{CHECK_PROPERTY}{name}".lower() not in present
    )


def add_columns_sql(contract: Contract, *, target: str, present: Collection[str]) -> str | None:
    """Return the statement that adds the missing columns to a table of an older contract, or None.

    Args:
        contract: The current contract of the table; columns of a minor version are nullable.
        target: Its name as SQL, from `quote_path` or `quote_name`.
        present: Names of its columns.
    """
    missing = [_column_ddl(column) for column in contract.columns if column.name not in present]
    listed = ",\n  ".join(missing)
    return f"ALTER TABLE {target} ADD COLUMNS (\n  {listed}\n)" if missing else None


def set_contract_sql(contract: Contract, *, target: str) -> str:
    """Return the statement that sets the contract version of a table."""
    stated = f"{quote_text(CONTRACT_PROPERTY)} = {quote_text(contract.version)}"
    return f"ALTER TABLE {target} SET TBLPROPERTIES ({stated})"


def _column_ddl(column: Column) -> str:
    nullable = " NOT NULL" if column.required else ""
    return f"{column.name} {column.physical_type}{nullable} COMMENT {quote_text(column.description)}"
