"""A lake as a whole: checks that it exists, is a lake and is complete; creates one or completes it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pyspark.errors import AnalysisException

from strandline.contracts.ddl import BUCKETS_PROPERTY
from strandline.contracts.load import tables
from strandline.contracts.shared_tables import RUNS
from strandline.dialect_api.info import DialectInfo
from strandline.tables.catalogs import check_schema, delta_properties, foreign_names, names_in
from strandline.tables.creating import LakeDesign, add_checks, add_columns, make
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
from strandline.tables.spark_errors import is_absent
from strandline.tables.store import TableStore

_OTHER_FOLDERS = ("_checkpoints",)


@dataclass(frozen=True, slots=True)
class LakeState:
    """The content of a location: properties of each existing table, foreign names, and whether there is no lake yet.

    Foreign are in a folder all other names, in a schema names of the lake that others have taken. `is_empty`: there are
    no tables, or only those of a killed `init`: empty ones without the last one.
    """

    tables: Mapping[str, Mapping[str, str]]
    foreign: tuple[str, ...]
    is_empty: bool

    @property
    def missing(self) -> tuple[str, ...]:
        """Missing tables, in the order of creation."""
        return tuple(table for table in tables() if table not in self.tables)


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
    if not store.location.is_path():
        return _inspect_schema(store)
    found: dict[str, Mapping[str, str]] = {}
    for table in tables():
        try:
            found[table] = store.properties(table)
        except AnalysisException as error:
            if not is_absent(error):
                raise
    return _state(found, store.version)


def present_tables(store: TableStore) -> frozenset[str]:
    """Return the names of the lake's tables that exist; of a lake in a schema by their names alone."""
    if store.location.is_path():
        return frozenset(inspect(store).tables)
    names = names_in(store.spark, store.location)
    return frozenset() if names is None else names.tables & frozenset(tables())


def _state(
    found: Mapping[str, Mapping[str, str]], version: Callable[[str], int], foreign: tuple[str, ...] = ()
) -> LakeState:
    """Return the state of a location. The versions of tables are asked for only if the last table is missing.

    Through Spark each takes a statement and a job.
    """
    is_empty = RUNS not in found and not any(version(table) for table in found)
    return LakeState(found, foreign, is_empty)


def _inspect_folder(store: TableStore) -> LakeState:
    root = store.location.local_path()
    if not root.exists():
        return LakeState({}, (), is_empty=True)
    if not root.is_dir():
        raise lake_no_folder(store.location)
    opened = open_tables(store.location)
    ours = {*tables(), *_OTHER_FOLDERS}
    foreign = tuple(
        sorted(name for name in os.listdir(root) if name not in ours and not name.startswith("."))
    )
    stated = {name: dict(table.metadata().configuration) for name, table in opened.items()}
    return _state(stated, lambda name: int(opened[name].version()), foreign)


def _inspect_schema(store: TableStore) -> LakeState:
    names = names_in(store.spark, store.location)
    if names is None:
        return LakeState({}, (), is_empty=True)
    stated = {table: delta_properties(store, table) for table in tables() if table in names.tables}
    foreign = foreign_names(names, stated)
    found = {table: each for table, each in stated.items() if each is not None and table not in foreign}
    return _state(found, store.version, foreign)


def require(store: TableStore, design: LakeDesign) -> tuple[str, ...]:
    """Create the lake if none exists; else check that it is complete and known. Return the created tables.

    Raises: UsageError LAKE_FOREIGN, TABLE_MISSING, CONTRACT_NEWER, CONTRACT_OLDER; then nothing was written.
    """
    state = inspect(store)
    check_ours(store, state)
    if state.is_empty:
        complete(store, state)
        return make(store, design, state.missing)
    _check_complete(store, state)
    return ()


def check_there(store: TableStore) -> None:
    """Check that a lake exists; of one in a schema only the names of its tables: others take seconds.

    Raises: UsageError LAKE_NOT_FOUND, LAKE_FOREIGN, CONTRACT_NEWER, CONTRACT_OLDER, PROPERTY_INVALID, TABLE_MISSING,
        CATALOG_UNKNOWN; FaultError TABLE_DAMAGED, CATALOG_UNREADABLE.
    """
    if not store.location.is_path():
        check_schema(store)
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


def complete(store: TableStore, state: LakeState) -> tuple[str, ...]:
    """Add what existing tables lack, and return the names of those tables. It can be repeated after a kill.

    These are: the columns of a newer contract, null in stored rows; in a schema the CHECK constraints that a killed
    `init` had not added yet.
    """
    older = older_tables(state.tables)
    for table in older:
        add_columns(store, table)
    checked: tuple[str, ...] = ()
    if not store.location.is_path():
        checked = tuple(table for table, stated in state.tables.items() if add_checks(store, table, stated))
    return tuple(table for table in state.tables if table in older or table in checked)


def check_ours(store: TableStore, state: LakeState) -> None:
    """Check that the location is not foreign and has no contract newer than this version.

    Raises: UsageError LAKE_FOREIGN, CONTRACT_NEWER.
    """
    if state.foreign and not (state.tables and store.location.is_path()):
        raise lake_foreign(store.location, state.foreign[0])
    check_properties(store.location, state.tables)


def design_of(state: LakeState) -> LakeDesign:
    """Return the design of an existing lake."""
    stated = (int(each[BUCKETS_PROPERTY]) for each in state.tables.values() if BUCKETS_PROPERTY in each)
    return LakeDesign(next(stated, 0), state.tables)
