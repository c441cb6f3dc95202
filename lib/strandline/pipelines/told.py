"""What operators tell the dialects' reducers: from a file given now, or from the newest run that was given one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pyspark.sql import functions as F

from strandline.dialects.base import Dialect, ReducerOption
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
class Told:
    """What holds in one run: values and refused namespaces by dialect, what its row keeps, what it says about it."""

    values: dict[str, Any] = field(default_factory=dict)
    owed: dict[str, tuple[str, ...]] = field(default_factory=dict)
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


def in_force(store: TableStore, dialects: Iterable[Dialect], files: Mapping[str, GivenFile | None]) -> Told:
    """Return what holds in this run: what `files` say, else what the newest run that was given one was told."""
    found = Told()
    for dialect, option in _options(dialects):
        if option.name in files:
            file = files[option.name]
            text = None if file is None else file.raw.decode("utf-8")
            kept = {"file": None if file is None else file.name, "text": text}
            found.members.setdefault(MEMBER, {})[option.name] = kept
            found.values[dialect.name] = _value(option, kept)
            continue
        run_id, kept = _newest(store, f"$.{MEMBER}['{option.name}']")
        found.values[dialect.name] = _value(option, kept)
        if kept is not None and kept["text"] is not None:
            found.notes.append(f"--{option.name} is the file {kept['file']}, given to the run {run_id}")
    _, refused = _newest(store, f"$.{REFUSED}")
    for dialect in dialects:
        kinds = dialect.kinds
        found.owed[dialect.name] = tuple(name for name in refused or () if name.partition(":")[0] in kinds)
    return found


def _value(option: ReducerOption, kept: Mapping[str, Any] | None) -> Any:
    if kept is None or kept["text"] is None:
        return option.nothing
    return option.parse(kept["text"].encode("utf-8"), kept["file"])


def _newest(store: TableStore, path: str) -> tuple[str | None, Any]:
    """Return, of the newest run whose `detail` has something at a JSON path, its id and that."""
    runs = store.read("run").select("run_id", "started_at", F.get_json_object("detail", path).alias("kept"))
    newest = runs.where("kept IS NOT NULL").orderBy(F.desc("started_at"), F.desc("run_id")).head(1)
    return (newest[0]["run_id"], json.loads(newest[0]["kept"])) if newest else (None, None)


def _options(dialects: Iterable[Dialect]) -> list[tuple[Dialect, ReducerOption]]:
    return [(each, each.reducer_option) for each in dialects if each.reducer_option is not None]
