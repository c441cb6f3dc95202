"""The notebooks run as they stand, and what they claim is so."""

import shutil
from typing import Any

import pytest

from support.lakes import choose_buckets
from support.notebooks import NOTEBOOKS, cells

PATHS = {path.stem: path for path in NOTEBOOKS}
LAKES = {
    "damaged_fleet": ("lake", "peer"), "kill_replay_count": ("lake", "calm"), "replicas": ("london", "tokyo"),
}  # fmt: skip
"""The lakes of each notebook. Its `init` finds them there, as when a notebook runs again: a new lake takes a while."""


@pytest.fixture
def run(spark, empty_lakes, tmp_path, monkeypatch):
    """Runs all code cells of a notebook in one namespace, as a kernel does, and returns that."""
    monkeypatch.setenv("NOTEBOOK_FOLDER", str(tmp_path))
    monkeypatch.setenv("MPLBACKEND", "Agg")

    def run_cells(name: str) -> dict[str, Any]:
        for lake in LAKES[name]:
            shutil.copytree(empty_lakes[False], tmp_path / lake)
            choose_buckets(tmp_path / lake, 2)
        namespace: dict[str, Any] = {"__name__": "__main__", "spark": spark}
        for number, (kind, text) in enumerate(cells(PATHS[name])):
            if kind == "code":
                exec(compile(text, f"{name}, cell {number}", "exec"), namespace)
        return namespace

    return run_cells


def _drawn(namespace: dict[str, Any], tmp_path) -> None:
    namespace["figure"].savefig(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 5_000


def test_a_damaged_fleet(run, tmp_path, capsys):
    found = run("damaged_fleet")
    counts = found["landed"].counts
    assert counts["read"] == sum(counts[name] for name in ("new", "known", "rejected", "deferred"))
    assert set(found["damaged_files"]) == {"node-1.journal", "node-2.journal", "node-3.journal"}
    assert sum(found["after"].values()) == 8 * 40 > sum(found["before"].values())
    assert found["lake"].check().exit == 0
    printed = capsys.readouterr().out
    assert [code for code in found["landed"].reasons if code not in printed] == []
    _drawn(found, tmp_path)


def test_replicas_converge_and_a_fork_is_found(run, tmp_path):
    found = run("replicas")
    assert found["at_first"]["london"] != found["at_first"]["tokyo"]
    assert found["converged"]["london"] == found["converged"]["tokyo"]
    assert sum(count for count, _ in found["converged"]["london"].values()) == 6 * 20 + 3 * 10
    assert found["nothing"].counts["read"] == 0
    assert len(found["forks"]) == 1
    assert found["at_last"]["london"] == found["at_last"]["tokyo"] != found["converged"]["london"]
    _drawn(found, tmp_path)


def test_a_killed_run_is_replayed_and_counted(run, tmp_path, capsys):
    found = run("kill_replay_count")
    assert found["killed"].returncode == -9, found["killed"].stderr
    assert found["after_kill"] == {"node_journal_line": 190, "quarantine": 0, "runs": []}
    assert found["after_replay"]["node_journal_line"] == 190
    assert found["after_replay"]["quarantine"] > 0
    assert found["after_replay"]["runs"] == ["night-1"]
    assert found["once_more"].members["repeated"] is True
    assert found["equal_states"]
    assert [run["run_id"] for run in found["runs"]] == ["night-1", "night-2"]
    assert found["runs"][1]["counts"]["new"] == 80
    assert [lines for _, lines in found["lines_after"].values()] == [190, 270]
    printed = capsys.readouterr().out
    assert "False" not in printed
    _drawn(found, tmp_path)
