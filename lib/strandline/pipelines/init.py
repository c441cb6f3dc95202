"""`init`: creates the missing tables and views of a lake, and adds the missing columns of older tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from strandline.config.settings import Settings
from strandline.contracts.ddl import DELETION_VECTORS_PROPERTY
from strandline.contracts.shared_tables import STATES
from strandline.core.errors import UsageError
from strandline.dialect_api.dialect import Dialect
from strandline.dialect_api.info import LakeOption
from strandline.dialects import every
from strandline.pipelines.report import Report
from strandline.pipelines.run_context import RunContext
from strandline.pipelines.runs import RunResult, record_run
from strandline.session.stores import has_lock
from strandline.tables import lake, reduced_versions
from strandline.tables.creating import LakeDesign, make, make_views
from strandline.tables.lake import LakeState
from strandline.tables.location import Location
from strandline.tables.store import TableStore

DEFAULT_BUCKETS = 16
ONE_DRIVER = (
    "one driver at a time may write to this lake: the log store of this session for S3 has no lock, and commits of a "
    "second driver could replace those of the first; see merge.several_drivers"
)
"""The note about a lake in S3."""


@dataclass(frozen=True, slots=True)
class InitOptions:
    """The arguments of `init`: number of buckets, and values of lake options by name; None or absent allows any value.

    `default_buckets` and `deletion_vectors` are settings: they apply only to a new lake.
    """

    buckets: int | None = None
    dialect_options: Mapping[str, str] = field(default_factory=dict)
    default_buckets: int = DEFAULT_BUCKETS
    deletion_vectors: bool = False


def run(store: TableStore, options: InitOptions, context: RunContext) -> Report:
    """Create the lake, its missing tables, or what older tables lack; return what was done.

    Raises: UsageError LAKE_FOREIGN, CONTRACT_NEWER, LAKE_CONTRADICTS; then nothing was written. FaultError
    CATALOG_REFUSED: what was created stays, and the next `init` goes on.
    """
    state = lake.inspect(store)
    lake.check_ours(store, state)
    if not state.is_empty:
        check_agrees(store.location, state, options, every())
    made_with = design(options, every()) if state.is_empty else _completed(state, options, context)
    migrated = lake.complete(store, state)
    # Before tables are made: after a kill in between they are still missing.
    _restart_reductions(store, state, context)
    made = make(store, made_with, state.missing)
    made_views = make_views(store)
    kept = tuple(table for table in state.tables if table not in (*made, *migrated))
    if not has_lock(store.location.scheme(), store.spark.conf.get):
        context.progress.note(ONE_DRIVER)
    done = {"created": made, "migrated": migrated, "unchanged": kept, "views": made_views}
    members = {name: list(tables) for name, tables in done.items()}
    return record_run(store, context, RunResult(members=members))


def _completed(state: LakeState, options: InitOptions, context: RunContext) -> LakeDesign:
    """Return the design of an existing lake, with the given options of tables that are missing.

    A table that was dropped has lost the values of its options. A note names those that are not given.
    """
    made_with = lake.design_of(state)
    made = design(replace(options, deletion_vectors=False), every()).properties
    for option in _options(every()):
        if option.table in state.missing and option.name not in options.dialect_options:
            context.progress.note(
                f"the table {option.table} was missing and gets {option.table_property} = {option.unset or repr('')}; "
                f"if the lake had another value, drop the table and run `strandline init` with --{option.name}"
            )
    missing = {table: made[table] for table in state.missing if table in made}
    return LakeDesign(made_with.buckets, {**made_with.properties, **missing})


def _restart_reductions(store: TableStore, state: LakeState, context: RunContext) -> None:
    """Let the next reduction of a dialect start anew if one of its tables is missing, but its states are there."""
    if not state.missing or STATES not in state.tables or not store.stored_bytes(STATES):
        return
    for dialect in every():
        name = dialect.info.name
        is_missing = not set(dialect.info.tables).isdisjoint(state.missing)
        if is_missing and reduced_versions.restart(store, name, 0):
            context.progress.note(f"the next `reduce` reduces all of {name}: a table of it was missing")


def design(options: InitOptions, dialects: Iterable[Dialect]) -> LakeDesign:
    """Return the design of a new lake. Only reduced tables get deletion vectors: rows of others are never replaced."""
    dialects = tuple(dialects)
    properties: dict[str, dict[str, str]] = {}
    if options.deletion_vectors:
        reduced = (STATES, *(table for dialect in dialects for table in dialect.info.reduced_tables))
        properties = {table: {DELETION_VECTORS_PROPERTY: "true"} for table in reduced}
    for option in _options(dialects):
        properties.setdefault(option.table, {})[option.table_property] = _value(option, options)
    return LakeDesign(options.buckets or options.default_buckets, properties)


def design_by(settings: Settings, dialects: Iterable[Dialect]) -> LakeDesign:
    """Return the design of a lake that a command other than `init` creates: that of the settings."""
    tables = settings.tables
    return design(
        InitOptions(default_buckets=tables.buckets, deletion_vectors=tables.deletion_vectors), dialects
    )


def _options(dialects: Iterable[Dialect]) -> list[LakeOption]:
    return [option for dialect in dialects for option in dialect.info.lake_options]


def _value(option: LakeOption, options: InitOptions) -> str:
    """Return the value of the option for the lake. Raises: UsageError OPTION_INVALID."""
    given = options.dialect_options.get(option.name, option.unset)
    if option.values is not None and given not in option.values:
        raise UsageError(
            code="OPTION_INVALID",
            message=f"--{option.name} cannot be {given}.",
            next=f"Use one of: {', '.join(option.values)}.",
        )
    if option.values is None and re.fullmatch(option.form, given) is None:
        raise UsageError(
            code="OPTION_INVALID",
            message=f"The value of --{option.name} does not have the form of {option.metavar}.",
            next=option.help,
        )
    return given


def check_agrees(
    location: Location, state: LakeState, options: InitOptions, dialects: Iterable[Dialect]
) -> None:
    """Check that the options agree with those of the existing lake. Raises: UsageError LAKE_CONTRADICTS.

    A table that is missing has no value that could contradict.
    """
    made_with = lake.design_of(state)
    if options.buckets is not None and options.buckets != made_with.buckets:
        raise _contradicts(location, f"{made_with.buckets} buckets", f"--buckets {options.buckets}")
    for option in _options(dialects):
        if option.name not in options.dialect_options or option.table in state.missing:
            continue
        stored = made_with.properties.get(option.table, {}).get(option.table_property, option.unset)
        wanted = _value(option, options)
        if stored != wanted:
            raise _contradicts(location, f"{option.table_property} = {stored}", f"--{option.name}")


def _contradicts(location: Location, stored: str, wanted: str) -> UsageError:
    return UsageError(
        code="LAKE_CONTRADICTS",
        message=f"The lake {location.describe()} was created with {stored}, which contradicts {wanted}.",
        next="Leave the option out, or create another lake: options of verdicts and layout never change.",
    )
