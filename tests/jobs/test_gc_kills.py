"""A collection killed at any of these moments and run again, or beside others, ends with the tables of one alone."""

import shutil
import signal
from dataclasses import dataclass
from pathlib import Path

import pytest
from deltalake import DeltaTable

from support import pruned_contexts as contexts
from support.aura_corpus import line
from support.lakes import Lake, write_files
from support.packaged import SECONDS, Program

CONTEXTS = 10
COLLECTED = {"snapshot_member", "snapshot", "gc_run", "pruned_record", "aura_fact"}
# The tables that have a new version when the process is dead.
POINTS = {
    "gc.pruned": COLLECTED - {"aura_fact"},
    "snapshot.members": {"snapshot_member"},
    "snapshot.row": {"snapshot_member", "snapshot"},
    "gc.proved": {"snapshot_member", "snapshot", "gc_run"},
    "gc.delete": COLLECTED - {"aura_fact"},
    "gc.deleted": COLLECTED,
}
ASKED = ("gc", "--skip-window", "0", "--lake")


@dataclass(frozen=True)
class Collected:
    """A lake whose contexts can be pruned, the lake after a collection, and its tables."""

    lake: Path
    undisturbed: Path
    tables: dict[str, list[tuple]]


@pytest.fixture(scope="module")
def collected(spark, settings, empty_lakes, tmp_path_factory) -> Collected:
    root = tmp_path_factory.mktemp("collected")
    shutil.copytree(empty_lakes[False], root / "lake")
    lake, reference = Lake(spark, settings, root / "lake", dialect="aura"), contexts.world(CONTEXTS)
    contexts.enter_rows(lake, [row for each in reference.members for row in each.rows()])
    reference.enter(lake, [fact for each in reference.sources for fact in (each.genesis, *each.some(24))])
    lake.reduce()
    shutil.copytree(lake.path, root / "undisturbed")
    undisturbed = Lake(spark, settings, root / "undisturbed", dialect="aura")
    assert undisturbed.gc().counts["pruned"] > 5
    return Collected(lake.path, undisturbed.path, told(undisturbed))


def told(lake):
    """Every table but those of runs."""
    return {table: rows for table, rows in lake.tables().items() if table != "gc_run"}


@pytest.mark.parametrize(
    "point", [pytest.param(each, marks=[] if each == "gc.pruned" else pytest.mark.slow) for each in POINTS]
)
def test_a_collection_killed_here_and_run_again_ends_as_if_it_had_not_been(
    spark, settings, collected, program: Program, tmp_path, point
):
    lake = Lake(spark, settings, shutil.copytree(collected.lake, tmp_path / "lake"), dialect="aura")
    before, reduced = lake.versions(), contexts.lake_tables(lake)
    ended = program.run(*ASKED, str(lake.path), cwd=tmp_path, STRANDLINE_FAULT=point)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    moved = {table for table, version in before.items() if DeltaTable(lake.path / table).version() > version}
    assert moved == POINTS[point]
    # Readers see the old state or the new one, and both give the same rows.
    assert lake.reduce(full=True).members["differences"] == {}
    assert contexts.lake_tables(lake) == reduced
    lake.gc()
    assert told(lake) == collected.tables
    lake.assert_sound()


@pytest.mark.slow
def test_two_collections_and_an_ingest_at_once_end_as_one_by_one(
    spark, settings, collected, program: Program, tmp_path
):
    lake = Lake(spark, settings, shutil.copytree(collected.lake, tmp_path / "lake"), dialect="aura")
    facts = b"".join(line(fact) + b"\n" for fact in contexts.Member(50).operations)
    later = write_files(tmp_path / "later", {"facts.jsonl": facts})
    at_once = [
        program.start(*words, "--lake", str(lake.path), cwd=tmp_path)
        for words in (ASKED[:-1], ASKED[:-1], ("ingest", str(later), "--dialect", "aura"))
    ]
    for process in at_once:
        _, error = process.communicate(timeout=SECONDS)
        assert process.returncode == 0, error
    outcomes = {outcome for (outcome,) in lake.rows("gc_run", "outcome")}
    assert {"DONE"} <= outcomes <= {"DONE", "LOST_RACE", "VOID"}
    lake.gc()
    lake.reduce()
    one_by_one = Lake(
        spark, settings, shutil.copytree(collected.undisturbed, tmp_path / "one"), dialect="aura"
    )
    one_by_one.ingest(later)
    one_by_one.reduce()
    assert told(lake) == told(one_by_one)
    lake.assert_sound()
