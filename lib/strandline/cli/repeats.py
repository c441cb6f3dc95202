"""A run that an orchestrator repeats under the same id: done once, reported each time."""

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Final

from strandline.cli.failures import is_from_spark
from strandline.cli.invocation import Invocation
from strandline.cli.lake_reader import open_for_reading
from strandline.contracts.shared_tables import QUARANTINE, RUNS
from strandline.core.errors import UsageError
from strandline.dialects import infos
from strandline.pipelines.report import Report
from strandline.pipelines.runs import ARGUMENTS, recorded_run
from strandline.tables.delta_rs import DeltaRsLake, open_tables, opens_without_spark
from strandline.tables.read_lake import SparkLake
from strandline.tables.recorded_versions import recreated_since

if TYPE_CHECKING:
    from strandline.tables.read_lake import ReadLake

_RUN_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:+~-]{0,199}")
_NO_LAKE: Final = ("LAKE_NOT_FOUND", "TABLE_MISSING")
_TABLES_OF_INIT: Final = ("created", "migrated", "unchanged")
"""Members of a row of `init` that name the tables which the lake had after it."""


def check_run_id(run_id: str) -> None:
    """Check an id from outside. Raises: UsageError `RUN_ID_INVALID`."""
    if not _RUN_ID.fullmatch(run_id):
        raise UsageError(
            "RUN_ID_INVALID",
            f"--run-id {run_id!r} is not a valid id",
            "use up to 200 letters, digits and . _ : + ~ -, beginning with a letter or a digit",
        )


def hash_of_arguments(values: Mapping[str, Any]) -> str:
    """Return a hash of the given options of a command, to tell a repeated call from another one.

    Options that are not given are left out: a later version of the product may have more. An option of 0 is given.
    """
    given = {name: str(value) for name, value in values.items() if _is_given(value)}
    return hashlib.sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()[:16]


def _is_given(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return bool(value)
    return value is not None and value is not False


def earlier_report(call: Invocation) -> Report | None:
    """Return the report that the lake has of the run `--run-id`, or None.

    Raises: UsageError `RUN_ID_TAKEN` (that run was of another command, or had other options, or a table of it was
    dropped since), and the errors of a lake that cannot be opened.
    """
    try:
        with open_for_reading(call) as lake:
            return _checked(call, lake)
    except UsageError as error:
        if error.code == "TABLE_MISSING" and call.command == "init":
            _check_not_done(call)
        if error.code in _NO_LAKE:
            return None
        raise
    except Exception as error:
        if is_from_spark(error):
            from strandline.tables.spark_errors import is_absent

            if is_absent(error):
                return None
        raise


def _checked(call: Invocation, lake: "ReadLake") -> Report | None:
    """Return the report of a run of this call whose tables are still there. Raises: UsageError `RUN_ID_TAKEN`."""
    found = recorded_run(lake, call.run_id)
    if found is None:
        return None
    arguments = found.members.get(ARGUMENTS, call.arguments)
    if (found.command, arguments) != (call.command, call.arguments):
        other = found.command if found.command != call.command else f"{call.command} with other options"
        raise UsageError(
            "RUN_ID_TAKEN",
            f"the run {call.run_id} of this lake was {other}",
            f"give each command an id of its own, for example --run-id {call.command}-{call.run_id}",
        )
    dialect, recreated = recreated_since(lake, call.run_id)
    gone = recreated & _tables_of(found, dialect)
    if gone:
        raise _done_without(call, gone, "recreated since")
    return found


def _tables_of(done: Report, dialect: str | None) -> set[str]:
    """Return the tables that a run wrote or read, of an `ingest` also those that it might have written."""
    named = {*done.tables, *done.read_versions}
    if done.command == "ingest" and dialect is not None and dialect in infos():
        named |= {*infos()[dialect].ingest_tables, QUARANTINE}
    return named


def _check_not_done(call: Invocation) -> None:
    """Check that an `init` of a lake that lacks tables is a new run, or that they are new in this version.

    Its row would not be added again, so that later commands would take the tables that it makes for damaged ones, or
    for those of before. Raises: UsageError `RUN_ID_TAKEN`.
    """
    there, runs = _left(call)
    done = None if runs is None else recorded_run(runs, call.run_id)
    if done is None or done.command != call.command:
        return
    had = {table for name in _TABLES_OF_INIT for table in done.members.get(name, ())}
    if not had <= there:
        raise _done_without(call, had - there, "dropped since")


def _left(call: Invocation) -> "tuple[frozenset[str], ReadLake | None]":
    """Return the tables of a lake that lacks some, and what reads its table of runs, None without this table."""
    if opens_without_spark(call.location):
        opened = open_tables(call.location)
        runs = DeltaRsLake(call.location, {name: table for name, table in opened.items() if name == RUNS})
        if not runs.needs_spark:
            return frozenset(opened), runs if runs.tables else None
    from strandline.tables.lake import present_tables

    store = call.store(makes=False, writes=False)
    there = present_tables(store)
    return there, SparkLake(store) if RUNS in there else None


def _done_without(call: Invocation, gone: Collection[str], what: str) -> UsageError:
    names, were = " and ".join(sorted(gone)), "was" if len(gone) == 1 else "were"
    return UsageError(
        "RUN_ID_TAKEN",
        f"the run {call.run_id} of this lake is done, but {names} {were} {what}, so its rows there are lost",
        f"give the new run an id of its own, for example --run-id {call.run_id}-2",
    )
