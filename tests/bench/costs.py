"""What each command costs in Spark jobs, queries, tasks, shuffled bytes and Delta commits, on four inputs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from pyspark.sql import SparkSession

from bench.data import Data
from bench.engine import IPFSLOG, SDMP, Engine
from bench.logs import folders
from strandline.dialect_api.dialect import Dialect
from support.costs import counted

NAME: Final = "costs.json"
LOGS: Final = 200
NEWS: Final = 100
"""Lines of the small file."""


@dataclass(frozen=True, slots=True)
class Costs:
    """Spark jobs, queries that run jobs or commands, tasks, bytes written to shuffles, commits."""

    jobs: int
    queries: int
    tasks: int
    shuffled_bytes: int
    commits: int


@dataclass(frozen=True, slots=True)
class CommandCosts:
    """One command on one input, and what it cost."""

    input: str
    command: str
    costs: Costs


def measure(engine: Engine, data: Data) -> Iterator[CommandCosts]:
    """Run each command on each input, and yield what it cost."""
    sizes = data.sizes
    yield from _commands(engine, engine.empty_lake(), sizes.one, (data.one(),), sizes.lines)
    large, many = engine.empty_lake(), sizes.many()
    yield from _commands(engine, large, many, data.many(), sizes.lines)
    small = f"{NEWS} lines into {many}"
    yield from _commands(engine, large, small, (data.more_of((1,), "more-small", NEWS),), NEWS)
    name, entries = f"{LOGS} logs of {sizes.length:,} entries", LOGS * sizes.length
    yield from _commands(engine, engine.empty_lake(), name, folders(data, LOGS), entries, IPFSLOG)


def _commands(
    engine: Engine, lake: Path, name: str, sources: Sequence[str | Path], new: int, of: Dialect = SDMP
) -> Iterator[CommandCosts]:
    commands: dict[str, Callable[[], object]] = {
        "ingest": lambda: engine.ingest(lake, sources, new=new, of=of),
        "reduce": lambda: engine.reduce(lake),
        "ingest of known input": lambda: engine.ingest(lake, sources, new=0, of=of),
    }
    for command, run in commands.items():
        found = counted(engine.spark, lake, run)
        tasks, shuffled = _of_stages(engine.spark, found.stages)
        yield CommandCosts(name, command, Costs(found.jobs, found.queries, tasks, shuffled, found.commits))


def _of_stages(spark: SparkSession, stages: range) -> tuple[int, int]:
    """Return the tasks of stages and the bytes that they wrote to shuffles; one that was skipped has neither.

    Raises: Py4JJavaError if there were more stages than Spark remembers.
    """
    store: Any = spark.sparkContext._jsc.sc().statusStore()
    found = [store.lastStageAttempt(stage) for stage in stages]
    return sum(each.numCompleteTasks() for each in found), sum(each.shuffleWriteBytes() for each in found)


def write_costs(folder: Path, found: Sequence[CommandCosts], environment: Mapping[str, Any]) -> None:
    """Write what was counted, and where, as JSON."""
    document = {"commands": [asdict(each) for each in found], "environment": dict(environment)}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / NAME).write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def read_costs(folder: Path) -> tuple[CommandCosts, ...]:
    """Return what was counted, or nothing if there is no such file."""
    path = folder / NAME
    if not path.exists():
        return ()
    found = json.loads(path.read_text(encoding="utf-8"))["commands"]
    return tuple(CommandCosts(each["input"], each["command"], Costs(**each["costs"])) for each in found)
