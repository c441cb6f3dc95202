"""What operators tell the dialects' reducers: from a file given now, or from the newest run that was given one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pyspark.sql import functions as F

from strandline.dialect_api.base import Dialect, ReducerOption
from strandline.tables.store import TableStore

MEMBER: Final = "told"
"""Member of a run's `detail`: by option the file that the run was given, null for one that was dropped."""

REFUSED: Final = "refused"
"""Member of a run's `detail`: the namespaces that a limit forbade to reduce."""


@dataclass(frozen=True, slots=True)
class GivenFile:
    """A file that an option of the command line names: how errors call it, and its bytes."""

    name: str
    raw: bytes


@dataclass(slots=True)
class ReducerOptions:
    """What holds in one run: values and refused namespaces by dialect, what its row keeps, what it says about it."""

    values: dict[str, Any] = field(default_factory=dict)
    retry_namespaces: dict[str, tuple[str, ...]] = field(default_factory=dict)
    members: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def check(dialects: Iterable[Dialect], files: Mapping[str, GivenFile | None]) -> None:
    """See that the given files say what their dialects understand.

    Raises: UsageError of the dialect whose file it is.
    """
    for _, option in _options(dialects):
        file = files.get(option.name)
        if file is not None:
            option.parse(file.raw, file.name)


def in_force(
    store: TableStore, dialects: Iterable[Dialect], files: Mapping[str, GivenFile | None]
) -> ReducerOptions:
    """Return what holds in this run: what `files` say, else what the newest run that was given one was told."""
    found, dialects = ReducerOptions(), tuple(dialects)
    options = _options(dialects)
    if not options:
        return found
    paths = {option.name: f"$.{MEMBER}['{option.name}']" for _, option in options}
    newest = _newest(store, {**paths, REFUSED: f"$.{REFUSED}"})
    for dialect, option in options:
        run_id, kept = newest.get(option.name, (None, None))
        if option.name in files:
            file = files[option.name]
            text = None if file is None else file.raw.decode("utf-8")
            kept = {"file": None if file is None else file.name, "text": text}
            found.members.setdefault(MEMBER, {})[option.name] = kept
        elif kept is not None and kept["text"] is not None:
            found.notes.append(f"--{option.name} is the file {kept['file']}, given to the run {run_id}")
        found.values[dialect.name] = _value(option, kept)
    _, refused = newest.get(REFUSED, (None, ()))
    for dialect in dialects:
        kinds = dialect.kinds
        found.retry_namespaces[dialect.name] = tuple(
            name for name in refused if name.partition(":")[0] in kinds
        )
    return found


def _value(option: ReducerOption, kept: Mapping[str, Any] | None) -> Any:
    if kept is None or kept["text"] is None:
        return option.nothing
    return option.parse(kept["text"].encode("utf-8"), kept["file"])


def _newest(store: TableStore, paths: Mapping[str, str]) -> Mapping[str, tuple[str, Any]]:
    """Return, by name, of the newest run whose `detail` has something at a JSON path its id and that: one scan."""
    when, columns = F.struct("started_at", "run_id"), []
    for name, path in paths.items():
        kept = F.get_json_object("detail", path)
        told = F.struct("run_id", kept.alias("kept"))
        columns.append(F.max_by(told, F.when(kept.isNotNull(), when)).alias(name))
    [row] = store.read("run").agg(*columns).collect()
    return {
        name: (row[name]["run_id"], json.loads(row[name]["kept"])) for name in paths if row[name] is not None
    }


def _options(dialects: Iterable[Dialect]) -> list[tuple[Dialect, ReducerOption]]:
    return [(each, each.reducer_option) for each in dialects if each.reducer_option is not None]
