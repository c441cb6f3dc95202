"""Processes that bring overlapping records into one lake at the same moment end with the exact union."""

import json
import shutil
from pathlib import Path

import pytest

from strandline.dialects.sdmp.author import synthetic, synthetic_id
from strandline.dialects.sdmp.codec import announce, render
from support.lakes import write_files
from support.packaged import SECONDS
from support.places import BUCKETS

SHARED, OWN, LINES = 20, 4, 100
# The command as it is, but that it waits before it makes a lake, and before its union merge, until the others are there
# too.
WRITER = """\
WRITERS = 2
import sys, time
from pathlib import Path
from strandline.cli import main
from strandline.pipelines.faults import Faults
from strandline.tables import lake

def meet(what="ready"):
    Path(f"{what}-{sys.argv[1]}").touch()
    until = time.monotonic() + 120
    while len(list(Path().glob(f"{what}-*"))) < WRITERS and time.monotonic() < until:
        time.sleep(0.005)

def make(*given, make=lake.make):
    meet("making")
    return make(*given)

lake.make = make
Faults.parse = staticmethod(lambda text: Faults("ingest.read", fire=meet))
sys.exit(main(sys.argv[2:]))
"""


def met(folder: Path, what: str) -> set[str]:
    """The writers that waited for one another."""
    return {path.name.partition("-")[2] for path in folder.glob(f"{what}-*")}


@pytest.mark.parametrize("writers", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_processes_that_make_a_lake_and_merge_at_once_end_with_the_union(
    new_lake, program, tmp_path, writers
):
    def files(*numbers: int, lines: int = LINES) -> dict[str, bytes]:
        return {f"{number}.journal": render(synthetic(number, lines)) for number in numbers}

    damaged = {"damaged.journal": render(list(synthetic(99, 9))[1:]), "none.journal": b"no journal\n"}
    shared = files(*range(SHARED)) | damaged
    given = {
        name: shared | files(*range(100 * at, 100 * at + OWN)) for at, name in enumerate("abcd"[:writers], 1)
    }
    given["b"] |= files(0, 1, lines=LINES + 7)
    sources = {name: write_files(tmp_path / name, each) for name, each in given.items()}
    raced, calm = new_lake("raced"), new_lake("calm")
    shutil.rmtree(raced.path)
    # What a process that was killed in CREATE TABLE leaves.
    (raced.path / "quarantine" / "_delta_log" / "_staged_commits").mkdir(parents=True)
    started = [
        program.start(
            name, "ingest", str(source), "--dialect", "sdmp", "--lake", str(raced.path), "--json",
            "--set", f"tables.buckets={BUCKETS}",
            cwd=tmp_path, script=WRITER.replace("WRITERS = 2", f"WRITERS = {writers}"),
        )
        for name, source in sources.items()
    ]  # fmt: skip
    told = [writer.communicate(timeout=SECONDS) for writer in started]
    assert [(json.loads(out)["exit"], json.loads(out).get("error")) for out, _ in told] == [
        (0, None)
    ] * writers
    assert met(tmp_path, "making") == met(tmp_path, "ready") == set(sources)
    reports = [json.loads(out) for out, _ in told]

    calm.ingest(*sources.values())
    assert raced.tables() == calm.tables()
    keys = raced.rows("node_journal_line", "namespace", "record_id")
    assert len(keys) == len(set(keys)) == (SHARED + writers * OWN) * LINES + 2 * 7
    # What several brought is new for one of them and known to the others: all had judged it before any wrote.
    assert sum(report["counts"]["new"] for report in reports) == len(keys)
    assert sum(report["counts"]["known"] for report in reports) == (writers - 1) * SHARED * LINES
    assert min(report["tables"]["node_journal_line"]["version"] for report in reports) == 1


@pytest.mark.slow
def test_two_processes_that_write_one_own_journal_at_once_end_with_one_chain(new_lake, program, tmp_path):
    node, user = synthetic_id("node", 1), synthetic_id("user", 1)
    pairs = [(user, synthetic_id("resource", k)) for k in range(60)]
    (tmp_path / "nodes.json").write_text(json.dumps({"nodes": [{"node": node, "user": user}]}))
    outboxes = {"a": announce(node, pairs[:40]), "b": announce(node, pairs[20:])}
    lake = new_lake()
    writers = [
        program.start(
            name, "ingest", str(write_files(tmp_path / name, {"outbox": frame})), "--dialect", "sdmp",
            "--nodes", "nodes.json", "--lake", str(lake.path), "--json",
            cwd=tmp_path, script=WRITER.replace("ingest.read", "authoring.tip"),
        )
        for name, frame in outboxes.items()
    ]  # fmt: skip
    told = [writer.communicate(timeout=SECONDS) for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0], told
    assert met(tmp_path, "ready") == {"a", "b"}
    lake.reduce()
    assert lake.rows("node_journal", "tip_n", "line_count", "pair_count", "fork_count") == [(61, 61, 60, 0)]
    assert sum(json.loads(out)["counts"]["authored"] for out, _ in told) == 60
