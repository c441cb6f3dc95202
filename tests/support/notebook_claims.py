"""What each notebook claims, asked of the values that its cells leave.

python -m support.notebook_claims NAME FOLDER    runs a notebook in FOLDER over the session that this process finds
"""

import contextlib
import io
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from support.notebooks import NOTEBOOKS, cells

PATHS = {path.stem: path for path in NOTEBOOKS}
LAKES = {
    "damaged_fleet": ("lake", "peer"), "kill_replay_count": ("lake", "calm"), "replicas": ("london", "tokyo"),
}  # fmt: skip
"""The lakes of each notebook. Its `init` finds them there, as when a notebook runs again: a new lake takes a while."""
Values = Mapping[str, Any]


def run(name: str, folder: Path, **given: Any) -> Values:
    """Run all code cells of a notebook in one namespace, as a kernel does, see what it claims, and return that."""
    namespace: dict[str, Any] = {"__name__": "__main__", **given}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for number, (kind, text) in enumerate(cells(PATHS[name])):
            if kind == "code":
                exec(compile(text, f"{name}, cell {number}", "exec"), namespace)
    CLAIMS[name](namespace, printed.getvalue())
    picture = folder / "figure.png"
    namespace["figure"].savefig(picture)
    assert picture.stat().st_size > 5_000
    return namespace


def damaged_fleet(found: Values, printed: str) -> None:
    """A fleet is damaged, the damage is named, and a peer repairs it."""
    counts = found["landed"].counts
    assert counts["read"] == sum(counts[name] for name in ("new", "known", "rejected", "deferred"))
    assert set(found["damaged_files"]) == {"node-1.journal", "node-2.journal", "node-3.journal"}
    assert sum(found["after"].values()) == 8 * 40 > sum(found["before"].values())
    assert found["lake"].check().exit == 0
    assert [code for code in found["landed"].reasons if code not in printed] == []


def replicas(found: Values, _: str) -> None:
    """Replicas converge, and a fork is found."""
    assert found["at_first"]["london"] != found["at_first"]["tokyo"]
    assert found["converged"]["london"] == found["converged"]["tokyo"]
    assert sum(count for count, _ in found["converged"]["london"].values()) == 6 * 20 + 3 * 10
    assert found["nothing"].counts["read"] == 0
    assert len(found["forks"]) == 1
    assert found["at_last"]["london"] == found["at_last"]["tokyo"] != found["converged"]["london"]


def kill_replay_count(found: Values, printed: str) -> None:
    """A killed run is replayed and counted."""
    assert found["killed"].returncode == -9, found["killed"].stderr
    assert found["after_kill"] == {"node_journal_line": 190, "quarantine": 0, "runs": []}, found["after_kill"]
    assert found["after_replay"]["node_journal_line"] == 190
    assert found["after_replay"]["quarantine"] > 0
    assert found["after_replay"]["runs"] == ["night-1"]
    assert found["once_more"].members["repeated"] is True
    assert found["equal_states"]
    assert [run["run_id"] for run in found["runs"]] == ["night-1", "night-2"]
    assert found["runs"][1]["counts"]["new"] == 80
    assert [lines for _, lines in found["lines_after"].values()] == [190, 270]
    assert "False" not in printed


CLAIMS: dict[str, Callable[[Values, str], None]] = {
    "damaged_fleet": damaged_fleet, "kill_replay_count": kill_replay_count, "replicas": replicas,
}  # fmt: skip


if __name__ == "__main__":
    left = run(sys.argv[1], Path(sys.argv[2]))
    [lake, *_] = (value for value in left.values() if type(value).__name__ == "Lake")
    print(type(lake.table("run")).__module__)
