"""Golden lakes: what fixed inputs make of every table, and what each command costs in Spark jobs, queries and commits.

    make golden     # writes tests/vectors/golden anew

A change of code that is to change no behaviour leaves these files as they are. Those of a dialect are about the lake
that its conformance tests fill.
"""

import hashlib
import json
import os
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from strandline.core.hashing import set_hash
from support.costs import counted
from support.lakes import Lake, write_files
from support.own_runs import own_run
from support.packaged import ROOT
from support.random_own import local_nodes, runs

GOLDEN = ROOT / "tests" / "vectors" / "golden"
COSTS = ("jobs", "queries", "commits")
Found = dict[str, Any]


class Recorder:
    """Runs commands one after the other, and notes what each counted and what it cost."""

    def __init__(self, spark) -> None:
        self._spark = spark
        self.commands: dict[str, Found] = {}

    def run(self, name: str, lake: Lake, command: Callable[[], Any]) -> Any:
        """Run a command that writes to `lake`, and return its report."""
        reports: list[Any] = []
        spent = counted(self._spark, lake.path, lambda: reports.append(command()))
        [report] = reports
        self.commands[name] = {
            "exit": report.exit,
            "counts": dict(sorted(report.counts.items())),
            "reasons": dict(sorted(report.reasons.items())),
            **{cost: getattr(spent, cost) for cost in COSTS},
        }
        return report


def contents(tables: Mapping[str, list[tuple]]) -> Found:
    """The count and the set_hash of each table's rows, provenance left out."""
    return {
        table: {"rows": len(rows), "set_hash": set_hash(_digest(row) for row in rows).hex()}
        for table, rows in tables.items()
        if rows
    }


def _digest(row: tuple) -> bytes:
    """The SHA-256 of a row: what Python writes for values of one type is the same on every machine."""
    return hashlib.sha256(repr(row).encode()).digest()


def exchange(spark, new_lake, folder: Path) -> Found:
    """Own nodes: what is announced is written, what peers name is appended, requests are written and answered."""
    lake, recorder = new_lake("exchange"), Recorder(spark)
    own = local_nodes(random.Random(16), 12, strangers=6)
    asked, answers = folder / "ask.jsonl", folder / "answers.jsonl"
    [each] = runs(16, own, 6, count=1)
    source = write_files(folder / "own", each.files)
    restored = own_run(own, restore=each.restore)
    recorder.run("ingest", lake, lambda: lake.ingest(source, options=restored))
    recorder.run("sync", lake, lambda: lake.sync(own_run(own), requests=asked))
    recorder.run("sync --answer", lake, lambda: lake.answer(own_run(own), asked, answers))
    files = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (asked, answers)}
    return {"commands": recorder.commands, "tables": contents(lake.tables()), "files": files}


def agree(name: str, found: Found) -> None:
    """See that a golden lake holds the rows that are stored, at the same cost; or store what was found."""
    if os.environ.get("STRANDLINE_GOLDEN") == "write":
        text = json.dumps(found, indent=1, ensure_ascii=False)
        (GOLDEN / f"{name}.json").write_text(text + "\n", "utf-8")
    stored = json.loads((GOLDEN / f"{name}.json").read_text("utf-8"))
    dear = {
        f"{command} {cost}": (each[cost], stored["commands"][command][cost])
        for command, each in found["commands"].items()
        for cost in FLICKERING
        if each[cost] > stored["commands"][command][cost] * 1.05 + 2
    }
    assert dear == {}, dear
    assert _without_costs(found) == _without_costs(stored)


FLICKERING = ("jobs", "queries")
"""Costs that differ by one or two from run to run: what Spark skips depends on what it has found out by then."""


def _without_costs(found: Found) -> Found:
    commands = {
        name: {key: value for key, value in each.items() if key not in FLICKERING}
        for name, each in found["commands"].items()
    }
    return {**found, "commands": commands}
