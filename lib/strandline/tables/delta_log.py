"""The files of a Delta log on a local disk: their names and the actions of a commit."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from strandline.core.safe_files import open_file

NUMBERED: Final = re.compile(
    r"(?P<version>\d{20})\.(?P<kind>json|crc|checkpoint\..*parquet|checkpoint\..*json)"
)
"""Names of the files of one version in a log."""


def content_of(file: Path) -> bytes:
    """Return the bytes of a file of a log. Raises: OSError, also for anything but a regular file."""
    with open_file(file) as stream:
        return stream.read()


def json_of(content: bytes) -> Any:
    """Return the value of JSON. Raises: ValueError, also for brackets in brackets without end."""
    try:
        return json.loads(content)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


class LogFiles(NamedTuple):
    """The commits of a log by version, and the versions of its newest checkpoint and of its newest checksum, or -1."""

    commits: dict[int, Path]
    checkpoint: int
    checksum: int


def listed(log: Path) -> LogFiles:
    """Return the files of a log."""
    commits, checkpoint, checksum = {}, -1, -1
    for name in os.listdir(log):
        found = NUMBERED.fullmatch(name)
        if found is None:
            continue
        version, kind = int(found["version"]), found["kind"]
        if kind == "json":
            commits[version] = log / name
        elif kind == "crc":
            checksum = max(checksum, version)
        else:
            checkpoint = max(checkpoint, version)
    return LogFiles(commits, checkpoint, checksum)


def newest_commit(log: Path, known: int = -1) -> int:
    """Return the newest version with a commit in the log, or -1.

    If the commit of the version `known` is there, only those that follow it are looked for: a log of a month with a
    commit each few seconds has half a million files, and a listing of them takes a second.
    """
    if known < 0 or not (log / f"{known:020}.json").exists():
        return max(listed(log).commits, default=-1)
    while (log / f"{known + 1:020}.json").exists():
        known += 1
    return known


def lines_of(file: Path) -> Iterator[bytes]:
    """Yield the lines of a commit: one that names all files of a large table has gigabytes. Raises: as `content_of`."""
    with open_file(file) as stream:
        yield from stream


def actions_of(commit: Path) -> Iterator[dict[str, Any]]:
    """Yield the actions of a commit; stop at a damaged line, which opening the table reports."""
    try:
        for line in lines_of(commit):
            action = json_of(line)
            if isinstance(action, dict):
                yield action
    except (OSError, ValueError):
        return
