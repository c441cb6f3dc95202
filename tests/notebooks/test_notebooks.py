"""The notebooks run as they stand, and what they claim is so."""

from typing import Any

import pytest

from support.notebooks import NOTEBOOKS, cells

PATHS = {path.stem: path for path in NOTEBOOKS}


@pytest.fixture
def run(spark, tmp_path, monkeypatch):
    """Runs all code cells of a notebook in one namespace, as a kernel does, and returns that."""
    monkeypatch.setenv("NOTEBOOK_FOLDER", str(tmp_path))
    monkeypatch.setenv("MPLBACKEND", "Agg")

    def run_cells(name: str) -> dict[str, Any]:
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
