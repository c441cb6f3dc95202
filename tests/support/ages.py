"""A lake as it would be if all of it had happened some days earlier."""

import json
import os
from pathlib import Path

DAY = 86_400


def age(lake: Path, days: int) -> None:
    """Move every time that Delta looks at into the past: of commits, removed files and files on disk.

    The copies of the log that a session keeps do not change: age a lake under a path that Spark has not opened.
    """
    for hidden in lake.rglob(".*.crc"):
        hidden.unlink()
    for commit in lake.glob("*/_delta_log/*.json"):
        actions = [json.loads(line) for line in commit.read_text(encoding="utf-8").splitlines()]
        for action in actions:
            for kind, name in (
                ("commitInfo", "timestamp"),
                ("add", "modificationTime"),
                ("remove", "deletionTimestamp"),
            ):
                if name in action.get(kind, {}):
                    action[kind][name] -= days * DAY * 1000
        commit.write_text("".join(json.dumps(action) + "\n" for action in actions), encoding="utf-8")
    for path in lake.rglob("*"):
        at = path.stat().st_mtime - days * DAY
        os.utime(path, (at, at))
