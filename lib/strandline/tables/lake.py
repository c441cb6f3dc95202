"""A lake as a whole: is it there, is it ours, is it complete; and making one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from pyspark.errors import AnalysisException

from strandline.contracts.ddl import BUCKETS_PROPERTY, create_table_sql
from strandline.contracts.load import contract, tables
from strandline.contracts.quoting import quote_name
from strandline.contracts.views import create_view_sql, view_names
from strandline.dialect_api.info import DialectInfo
from strandline.tables.commits import current_schema
from strandline.tables.delta_rs import open_tables
from strandline.tables.refusals import (
    check_properties,
    lake_foreign,
    lake_not_found,
    no_folder,
    table_missing,
)
from strandline.tables.store import TableStore
from strandline.tables.views import lake_views

_OURS_BESIDE_TABLES = ("_checkpoints",)
TABLES_AT_ONCE: Final = 4


@dataclass(frozen=True, slots=True)
class LakeState:
    """What is at a location: properties and version of each table that is there, and names that are not ours."""

    tables: Mapping[str, Mapping[str, str]]
    versions: Mapping[str, int]
    foreign: tuple[str, ...]

    @property
    def missing(self) -> tuple[str, ...]:
        """Tables that are not there, in the order of making them."""
        return tuple(table for table in tables() if table not in self.tables)

    @property
    def is_empty(self) -> bool:
        """True if nothing is there, or only what a killed `init` left: tables without a row, the last one absent."""
        return not self.tables or ("run" in self.missing and not any(self.versions.values()))


def options_of(store: TableStore, info: DialectInfo) -> dict[str, str]:
    """Return the choices that the lake was made with, by the name of each lake option of a dialect."""
    return {
        option.name: store.properties(option.table).get(option.table_property, option.unset)
        for option in info.lake_options
    }


def inspect(store: TableStore) -> LakeState:
    """Return what is at the store's location. Nothing is written."""
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
        raise no_folder(store.location)
    opened = open_tables(store.location)
    ours = {*tables(), *_OURS_BESIDE_TABLES}
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
    """What a new lake is made with: N, and properties of single tables (a dialect's choices)."""

    buckets: int
    properties: Mapping[str, Mapping[str, str]]


def require(store: TableStore, design: LakeDesign) -> tuple[str, ...]:
    """Make the lake if nothing is there; else see that it is whole and known. Return the tables made.

    Raises: UsageError LAKE_FOREIGN, TABLE_MISSING, CONTRACT_NEWER; then nothing was written.
    """
    state = inspect(store)
    check_ours(store, state)
    if state.is_empty:
        return make(store, design, state.missing)
    if state.missing:
        raise table_missing(store.location, state.missing[0])
    return ()


def check_there(store: TableStore) -> None:
    """See that a lake is there to be read; one in a schema tells by itself which table it lacks.

    Raises: UsageError LAKE_NOT_FOUND, LAKE_FOREIGN, CONTRACT_NEWER, PROPERTY_INVALID, TABLE_MISSING; FaultError
        TABLE_DAMAGED.
    """
    if not store.location.is_path():
        return
    state = inspect(store)
    check_ours(store, state)
    if not state.tables:
        raise lake_not_found(store.location)
    if state.missing:
        raise table_missing(store.location, state.missing[0])


def check_ours(store: TableStore, state: LakeState) -> None:
    """See that the location holds nothing of others, and no contract that is newer than this version knows.

    Raises: UsageError LAKE_FOREIGN, CONTRACT_NEWER.
    """
    if state.foreign and not state.tables:
        raise lake_foreign(store.location, state.foreign[0])
    check_properties(store.location, state.tables)


def make(store: TableStore, design: LakeDesign, missing: Iterable[str]) -> tuple[str, ...]:
    """Make the tables named, the last in the order in which runs write them after all others. Return their names."""
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

    # Most of a second a table, in which the driver waits: several at once. The last one tells that all are there.
    with ThreadPoolExecutor(TABLES_AT_ONCE) as pool:
        list(pool.map(create, made[:-1]))
    for table in made[-1:]:
        create(table)
    return made


def make_views(store: TableStore) -> tuple[str, ...]:
    """Make the views of a lake that is a schema; a folder's views live in the session that asks. Return their names."""
    if store.location.catalog is None or store.location.schema_name is None:
        return ()
    parts = (store.location.catalog, store.location.schema_name)
    with current_schema(store.spark, *parts):
        for name, view in lake_views().items():
            store.spark.sql(create_view_sql(view, target=quote_name(*parts, name)))
    return view_names()


def design_of(state: LakeState) -> LakeDesign:
    """Return what the lake that is there was made with."""
    stated = (int(each[BUCKETS_PROPERTY]) for each in state.tables.values() if BUCKETS_PROPERTY in each)
    return LakeDesign(next(stated, 0), state.tables)


def _create_schema(schema: str) -> str:
    return f"CREATE SCHEMA IF NOT EXISTS {schema}"
