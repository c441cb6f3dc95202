"""The jobs under spark-submit: Delta from --packages, Strandline from --py-files, two real executors."""

import json
import shutil
from dataclasses import asdict

import pytest
from deltalake import DeltaTable

from support.lakes import write_files
from support.packaged import ROOT, Cluster
from support.random_journals import corpus
from support.reference import outcome_of

[FILES] = corpus(seed=5, journals=12, runs=1)
MISSING = ("node_journal", "namespace_state")
"""The tables that `init` makes: all of them take a second each."""

STEPS = """
import json, runpy, sys

for job, *words in json.loads(sys.argv[1]):
    sys.argv = [job, *words]
    try:
        runpy.run_path(job, run_name="__main__")
    except SystemExit as ended:
        if ended.code:
            raise
"""
"""Jobs in one driver, until one fails: a driver with its executors takes longer to start than they take to run."""


@pytest.fixture
def cluster(jars, tmp_path):
    return Cluster.make(tmp_path / "cluster", jars)


def test_the_jobs_run_on_executors_that_know_strandline_by_the_wheel_alone(
    cluster, wheel, empty_lakes, tmp_path
):
    work, lake = tmp_path / "work", tmp_path / "lake"
    shutil.copytree(empty_lakes[False], lake)
    for table in MISSING:
        shutil.rmtree(lake / table)
    shutil.copytree(ROOT / "jobs", work, ignore=shutil.ignore_patterns("__pycache__"))
    # Named from the driver's working folder, which is not that of the executors.
    write_files(work / "in", FILES)
    (work / "steps.py").write_text(STEPS)
    ours = ("--lake", str(lake), "--json")
    first = ("init.py", "--buckets", "4", *ours), ("ingest.py", "in", "--dialect", "sdmp", *ours)
    printed = []
    for job, *words in (("steps.py", json.dumps(first)), ("reduce.py", *ours)):
        done = cluster.submit(work / job, *words, wheel=wheel, cwd=work)
        assert done.returncode == 0, done.stderr[-5000:]
        # Ivy prints lines of its own before the job begins.
        printed += [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    reports = {report["command"]: report for report in printed}
    assert list(reports) == ["init", "ingest", "reduce"]
    assert reports["init"]["created"] == list(MISSING)
    assert DeltaTable(lake / "namespace_state").metadata().configuration["strandline.buckets"] == "4"
    counts, states = outcome_of(FILES)
    assert reports["ingest"]["counts"].items() >= asdict(counts).items()
    rows = (
        DeltaTable(lake / "namespace_state").to_pyarrow_table(columns=["namespace", "state_hash"]).to_pylist()
    )
    assert {row["namespace"]: row["state_hash"].hex() for row in rows} == states
    assert reports["reduce"]["namespaces"] == len(rows)
    imported = cluster.imported_from()
    assert {who for who, _ in imported} == {"driver", "worker"}
    executors = (cluster.home / "work").resolve()
    for who, origin in imported:
        archive = origin.parents[1]
        assert origin.parts[-2:] == ("strandline", "__init__.py")
        # Workers find the same bytes under a name that Spark puts on their path, in their executor's own folder.
        assert archive == wheel if who == "driver" else archive.is_relative_to(executors)
        assert archive.stem == wheel.stem
