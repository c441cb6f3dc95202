"""A lake as a whole: checks that it exists, is a lake and is complete; creates one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from pyspark.errors import AnalysisException

from strandline.contracts.ddl import BUCKETS_PROPERTY, add_columns_sql, create_table_sql, set_contract_sql
from strandline.contracts.load import contract, tables
from strandline.contracts.quoting import quote_name
from strandline.contracts.views import create_view_sql, view_names
from strandline.dialect_api.info import DialectInfo
from strandline.tables.commits import current_schema
from strandline.tables.delta_rs import open_tables
from strandline.tables.refusals import (
    check_properties,
    contract_older,
    lake_foreign,
    lake_no_folder,
    lake_not_found,
    older_tables,
    table_missing,
)
from strandline.tables.store import TableStore
from strandline.tables.views import lake_views

_OTHER_FOLDERS = ("_checkpoints",)
TABLES_AT_ONCE: Final = 4


@dataclass(frozen=True, slots=True)
class LakeState:
    """The content of a location: properties and version of each existing table, and foreign names."""

    tables: Mapping[str, Mapping[str, str]]
    versions: Mapping[str, int]
    foreign: tuple[str, ...]

    @property
    def missing(self) -> tuple[str, ...]:
        """Missing tables, in the order of creation."""
        return tuple(table for table in tables() if table not in self.tables)

    @property
    def is_empty(self) -> bool:
        """True if there are no tables, or only those of a killed `init`: empty ones without the last one."""
        return not self.tables or ("run" in self.missing and not any(self.versions.values()))


def options_of(store: TableStore, info: DialectInfo) -> dict[str, str]:
    """Return the lake options of a dialect with which the lake was created, by name."""
    return {
        option.name: store.properties(option.table).get(option.table_property, option.unset)
        for option in info.lake_options
    }


def inspect(store: TableStore) -> LakeState:
    """Return the state of the store's location. Writes nothing."""
    if store.location.is_local():
        return _inspect_folder(store)
    found: dict[str, Mapping[str, str]] = {}
    versions: dict[str, int] = {}
    for table in tables():
        try:
            found[table], versions[table] = store.properties(table), store.version(table)
        except AnalysisException:
            continue
    return LakeState(found, versions, ())


def _inspect_folder(store: TableStore) -> LakeState:
    root = store.location.local_path()
    if not root.exists():
        return LakeState({}, {}, ())
    if not root.is_dir():
        raise lake_no_folder(store.location)
    opened = open_tables(store.location)
    ours = {*tables(), *_OTHER_FOLDERS}
    foreign = tuple(
        sorted(name for name in os.listdir(root) if name not in ours and not name.startswith("."))
    )
    return LakeState(
        {name: dict(table.metadata().configuration) for name, table in opened.items()},
        {name: int(table.version()) for name, table in opened.items()},
        foreign,
    )


@dataclass(frozen=True, slots=True)
class LakeDesign:
    """The design of a lake: number of buckets, and properties of tables (lake options of dialects)."""

    buckets: int
    properties: Mapping[str, Mapping[str, str]]


def require(store: TableStore, design: LakeDesign) -> tuple[str, ...]:
    """Create the lake if none exists; else check that it is complete and known. Return the created tables.

    Raises: UsageError LAKE_FOREIGN, TABLE_MISSING, CONTRACT_NEWER, CONTRACT_OLDER; then nothing was written.
    """
    state = inspect(store)
    check_ours(store, state)
    if state.is_empty:
        return make(store, design, state.missing)
    _check_complete(store, state)
    return ()


def check_there(store: TableStore) -> None:
    """Check that a lake exists; in a schema, reading reports a missing table.

    Raises: UsageError LAKE_NOT_FOUND, LAKE_FOREIGN, CONTRACT_NEWER, CONTRACT_OLDER, PROPERTY_INVALID, TABLE_MISSING;
        FaultError TABLE_DAMAGED.
    """
    if not store.location.is_path():
        return
    state = inspect(store)
    check_ours(store, state)
    if not state.tables:
        raise lake_not_found(store.location)
    _check_complete(store, state)


def _check_complete(store: TableStore, state: LakeState) -> None:
    """Check that no table and no column is missing. Raises: UsageError TABLE_MISSING, CONTRACT_OLDER."""
    if state.missing:
        raise table_missing(store.location, state.missing[0])
    older = older_tables(state.tables)
    if older:
        raise contract_older(store.location, older[0])


def migrate(store: TableStore, state: LakeState) -> tuple[str, ...]:
    """Add the missing columns to tables of older contracts, null in stored rows; return the names of the tables.

    It can be repeated after a kill at any point.
    """
    older = older_tables(state.tables)
    for table in older:
        described, target = contract(table), store.target(table)
        added = add_columns_sql(described, target=target, present=store.read(table).columns)
        if added is not None:
            store.spark.sql(added)
        store.spark.sql(set_contract_sql(described, target=target))
    return older


def check_ours(store: TableStore, state: LakeState) -> None:
    """Check that the location is not foreign and has no contract newer than this version.

    Raises: UsageError LAKE_FOREIGN, CONTRACT_NEWER.
    """
    if state.foreign and not state.tables:
        raise lake_foreign(store.location, state.foreign[0])
    check_properties(store.location, state.tables)


def make(store: TableStore, design: LakeDesign, missing: Iterable[str]) -> tuple[str, ...]:
    """Create the missing tables. The table that runs write last is created after all others. Return their names."""
    made = tuple(table for table in tables() if table in set(missing))
    if store.location.schema_name is not None and store.location.catalog is not None:
        schema = quote_name(store.location.catalog, store.location.schema_name)
        store.spark.sql(_create_schema(schema))

    def create(table: str) -> None:
        properties = design.properties.get(table, {})
        store.spark.sql(
            create_table_sql(
                contract(table), target=store.target(table), buckets=design.buckets, properties=properties
            )
        )

    # A table takes most of a second, in which the driver waits: several at once. The last one marks a complete lake.
    with ThreadPoolExecutor(TABLES_AT_ONCE) as pool:
        list(pool.map(create, made[:-1]))
    for table in made[-1:]:
        create(table)
    return made


def make_views(store: TableStore) -> tuple[str, ...]:
    """Create the views of a lake in a schema; the views of a folder are in the session. Return their names."""
    if store.location.catalog is None or store.location.schema_name is None:
        return ()
    parts = (store.location.catalog, store.location.schema_name)
    with current_schema(store.spark, *parts):
        for name, view in lake_views().items():
            store.spark.sql(create_view_sql(view, target=quote_name(*parts, name)))
    return view_names()


def design_of(state: LakeState) -> LakeDesign:
    """Return the design of an existing lake."""
    stated = (int(each[BUCKETS_PROPERTY]) for each in state.tables.values() if BUCKETS_PROPERTY in each)
    return LakeDesign(next(stated, 0), state.tables)


def _create_schema(schema: str) -> str:
    return f"CREATE SCHEMA IF NOT EXISTS {schema}"
