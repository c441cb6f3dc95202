"""Sticky options: files for reducers, given now or stored by the newest run that was given one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import functions as F

from strandline.contracts.shared_tables import PRUNED, RUNS
from strandline.dialect_api.dialect import Dialect
from strandline.dialect_api.info import DialectInfo, GivenOption
from strandline.dialect_api.pruning import pruner
from strandline.dialect_api.refusals import MOST_NAMED, Refused
from strandline.tables.run_order import in_order, run_order
from strandline.tables.store import TableStore

MEMBER: Final = "told"
"""Member of a run's `detail`: the file that the run was given, by option; null for a removed one."""

REFUSED: Final = "refused"
"""Member of a run's `detail`: the namespaces that were not reduced, of each dialect the first `MOST_NAMED`."""


@dataclass(slots=True)
class ReducerOptions:
    """The options of one run: parsed values and namespaces to retry by dialect, members of its row, notes to print.

    `retry_all` has the dialects of which an earlier run may have refused more namespaces than its row names.
    """

    values: dict[str, Any] = field(default_factory=dict)
    retry_namespaces: dict[str, tuple[str, ...]] = field(default_factory=dict)
    retry_all: set[str] = field(default_factory=set)
    members: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def check(dialects: Iterable[Dialect], files: Mapping[str, GivenOption | None]) -> None:
    """Check that each dialect can parse the given files that it reads. Raises: UsageError of that dialect."""
    for dialect in dialects:
        given = {option.name: files.get(option.name) for option in dialect.info.sticky_options}
        dialect.parse_reducer_options({name: file for name, file in given.items() if file is not None})


def resolve(
    store: TableStore, dialects: Iterable[Dialect], files: Mapping[str, GivenOption | None]
) -> ReducerOptions:
    """Return the options of this run: those of `files`, else those of the newest run that was given some."""
    found, dialects = ReducerOptions(), tuple(dialects)
    names = [option.name for dialect in dialects for option in dialect.info.sticky_options]
    if not names and not _may_retry(store, dialects):
        return found
    newest = _newest(store, names, dialects)
    active: dict[str, GivenOption] = {}
    for name in names:
        run_id, stored = newest.get(name, (None, None))
        if name in files:
            stored = _stored(files[name])
            found.members.setdefault(MEMBER, {})[name] = stored
        elif stored is not None and stored["text"] is not None:
            found.notes.append(f"--{name} is the file {stored['file']}, given to the run {run_id}")
        if stored is not None and stored["text"] is not None:
            active[name] = GivenOption(stored["file"], stored["text"].encode("utf-8"))
    for dialect in dialects:
        info = dialect.info
        theirs = {option.name for option in info.sticky_options}
        found.values[info.name] = dialect.parse_reducer_options(
            {name: file for name, file in active.items() if name in theirs}
        )
        _, refused = newest.get(_refused_of(info), (None, ()))
        names_of = tuple(name for name in refused if name.partition(":")[0] in info.kinds)
        if len(names_of) < MOST_NAMED:
            found.retry_namespaces[info.name] = names_of
        else:
            found.retry_all.add(info.name)
    return found


def _may_retry(store: TableStore, dialects: Iterable[Dialect]) -> bool:
    """Return whether an earlier run can have refused a namespace: else runs are not read."""
    if any(dialect.info.refuses_lost for dialect in dialects):
        return True
    return any(map(pruner, dialects)) and store.stored_bytes(PRUNED) > 0


def refused_members(refused: Iterable[Refused]) -> dict[str, Any]:
    """Return the members of a run's `detail` about namespaces that were not reduced: the first ones and the total."""
    found = tuple(refused)
    names = sorted(name for each in found for name in each.names)
    return {REFUSED: names, f"{REFUSED}_total": sum(each.total for each in found)}


def _stored(file: GivenOption | None) -> Mapping[str, str | None]:
    """Return the value that the run's row stores for a file that was given or removed."""
    if file is None:
        return {"file": None, "text": None}
    return {"file": file.text, "text": (file.content or b"").decode("utf-8")}


def _refused_of(info: DialectInfo) -> str:
    return f"{REFUSED} {info.name}"


def _newest(
    store: TableStore, options: Iterable[str], dialects: Iterable[Dialect]
) -> Mapping[str, tuple[str, Any]]:
    """Return the newest run id whose `detail` has a member, and its value: by option, and by `_refused_of` a dialect.

    A run that did not reduce a dialect says nothing of its namespaces. One scan; none if `run` is small.
    """
    wanted = {name: (MEMBER, name, None) for name in options} | {
        _refused_of(each.info): (REFUSED, None, each.info.record_table) for each in dialects
    }
    few = store.few_rows(RUNS)
    return _newest_of_few(few, wanted) if few is not None else _newest_of_many(store, wanted)


_Wanted = Mapping[str, tuple[str, str | None, str | None]]
"""By name: the member of `detail`, its own member or None for all of it, and the table that the run has read."""


def _newest_of_few(runs: pa.Table, wanted: _Wanted) -> Mapping[str, tuple[str, Any]]:
    found: dict[str, tuple[str, Any]] = {}
    for row in in_order(runs):
        for name, (member, part, table) in wanted.items():
            value = row["detail"].get(member)
            if part is not None:
                value = value.get(part) if isinstance(value, dict) else None
            if value is not None and (table is None or table in row["read_versions"]):
                found[name] = (row["run_id"], value)
    return found


def _newest_of_many(store: TableStore, wanted: _Wanted) -> Mapping[str, tuple[str, Any]]:
    when, columns = run_order(), []
    for name, (member, part, table) in wanted.items():
        path = f"$.{member}" if part is None else f"$.{member}['{part}']"
        value = F.get_json_object("detail", path)
        is_of = F.lit(True) if table is None else F.map_contains_key("read_versions", F.lit(table))
        of_run = F.struct("run_id", value.alias("value"))
        columns.append(F.max_by(of_run, F.when(value.isNotNull() & is_of, when)).alias(name))
    [row] = store.read(RUNS).agg(*columns).collect()
    return {
        name: (row[name]["run_id"], json.loads(row[name]["value"]))
        for name in wanted
        if row[name] is not None
    }
