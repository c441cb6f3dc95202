# Databricks notebook source
# MAGIC %md
# MAGIC # Kill, replay, count
# MAGIC
# MAGIC A process ingests journals and is killed between two commits. The same run is started again: nothing is lost, nothing is counted twice, and
# MAGIC the table `run` proves it. Then the lake is read as it was after each run.
# MAGIC
# MAGIC It needs Strandline, Spark and matplotlib: `pip install 'WHEEL[spark,notebook]'`. The process that is killed is a
# MAGIC second one on this machine: it starts a Spark of its own, or over Spark Connect is a second client of the server. Use a laptop: on
# MAGIC Databricks such a process has no session, and there are no lakes in folders.

# COMMAND ----------

from importlib import import_module
from importlib.util import find_spec

INSTALL = "Run: pip install 'WHEEL[spark,notebook]', with the path of the wheel of Strandline"
missing = [name for name in ("strandline", "pyspark", "matplotlib") if find_spec(name) is None]
if missing:
    raise SystemExit(f"not installed: {', '.join(missing)}. {INSTALL}")
spark_version = import_module("pyspark").__version__
if tuple(map(int, spark_version.split(".")[:2])) < (4, 1):
    raise SystemExit(f"Strandline needs Spark 4.1 or later, this is {spark_version}. {INSTALL}")

# COMMAND ----------

# MAGIC %md
# MAGIC ## What arrived tonight
# MAGIC
# MAGIC Five journals of 40 lines. One of them arrived twice, and in one a digit is another one.

# COMMAND ----------

import os
import tempfile
from pathlib import Path

from strandline.dialects.sdmp.author import synthetic

FOLDER = Path(os.environ.get("NOTEBOOK_FOLDER") or tempfile.mkdtemp(prefix="strandline-"))
first, second = FOLDER / "first", FOLDER / "second"
for folder in (first, second):
    folder.mkdir(parents=True, exist_ok=True)


def write(folder, name, lines):
    (folder / f"{name}.journal").write_bytes(b"\n".join(lines))


for i in range(4):
    write(first, f"node-{i}", synthetic(200 + i, 40))
write(first, "node-0-again", synthetic(200, 40))
lines = list(synthetic(204, 40))
lines[30] = (b"0" if lines[30][:1] != b"0" else b"1") + lines[30][1:]
write(first, "node-4", lines)

# COMMAND ----------

# MAGIC %md
# MAGIC ## Kill
# MAGIC
# MAGIC `STRANDLINE_FAULT` names a step at which the process sends SIGKILL to itself, as if the machine had lost power. The step is the worst one: the
# MAGIC records are committed, the rejected ones and the row of the run are not.

# COMMAND ----------

import subprocess
import sys

import strandline

lake = strandline.open(FOLDER / "lake")
lake.init(buckets=2)
program = f"import strandline; {lake!r}.ingest({str(first)!r}, dialect='sdmp', run_id='night-1')"
killed = subprocess.run(
    [sys.executable, "-c", program],
    env=os.environ | {"STRANDLINE_FAULT": "ingest.records"},
    capture_output=True,
    text=True,
)
print("the process ended with", killed.returncode)

# COMMAND ----------

# MAGIC %md
# MAGIC The lake after the kill: lines, but no rejected ones, and no run that tells of them.

# COMMAND ----------


def held():
    """The number of rows of three tables, and the ids of the runs that ingested."""
    runs = lake.table("run").where("command = 'ingest'").select("run_id").collect()
    counts = {name: lake.table(name).count() for name in ("node_journal_line", "quarantine")}
    return counts | {"runs": [row["run_id"] for row in runs]}


after_kill = held()
after_kill

# COMMAND ----------

# MAGIC %md
# MAGIC ## Replay
# MAGIC
# MAGIC The same call under the same run id. What the killed process had inserted is known now, what it had not is written.

# COMMAND ----------

replayed = lake.ingest(first, dialect="sdmp", run_id="night-1")
after_replay = held()
print(after_replay)
replayed

# COMMAND ----------

# MAGIC %md
# MAGIC A scheduler that is not sure starts it once more: the recorded run answers, and no table changes.

# COMMAND ----------

once_more = lake.ingest(first, dialect="sdmp", run_id="night-1")
print("repeated:", once_more.members["repeated"], "- tables as before:", held() == after_replay)

# COMMAND ----------

# MAGIC %md
# MAGIC A lake that nobody killed has the same states.

# COMMAND ----------

calm = strandline.open(FOLDER / "calm")
calm.init(buckets=2)
calm.ingest(first, dialect="sdmp")


def states(lake):
    """The number of records and the state hash of each namespace."""
    rows = lake.table("namespace_state").select("namespace", "record_count", "state_hash").collect()
    return {row["namespace"]: (row["record_count"], bytes(row["state_hash"]).hex()) for row in rows}


for each in (lake, calm):
    each.reduce(run_id="reduce-1")
equal_states = states(lake) == states(calm)
print("equal states:", equal_states)

# COMMAND ----------

# MAGIC %md
# MAGIC ## Count
# MAGIC
# MAGIC The next night brings more. In each run `read = new + known + rejected + deferred`: every record that was read is in exactly one of four places.

# COMMAND ----------

for i in range(4):
    write(second, f"node-{i}", synthetic(200 + i, 60))
lake.ingest(second, dialect="sdmp", run_id="night-2")
lake.reduce(run_id="reduce-2")

runs = [
    row.asDict(recursive=True)
    for row in lake.table("run")
    .where("command = 'ingest'")
    .orderBy("started_at")
    .select("run_id", "counts")
    .collect()
]
for run in runs:
    counts = run["counts"]
    parts = [counts[name] for name in ("new", "known", "rejected", "deferred")]
    print(
        f"{run['run_id']}: read {counts['read']} = {' + '.join(map(str, parts))}",
        counts["read"] == sum(parts),
    )

# COMMAND ----------

# MAGIC %md
# MAGIC ## Time travel
# MAGIC
# MAGIC A row of `run` has the version of each table that it read. Delta reads the table as it was then.

# COMMAND ----------

read = (
    lake.table("run")
    .where("command = 'reduce'")
    .orderBy("started_at")
    .selectExpr("run_id", "read_versions['node_journal_line'] AS version")
)
lines_after = {}
for row in read.collect():
    query = f"SELECT count(*) AS lines FROM node_journal_line VERSION AS OF {row['version']}"
    lines_after[row["run_id"]] = (row["version"], lake.sql(query).collect()[0]["lines"])
lines_after

# COMMAND ----------

# MAGIC %md
# MAGIC ## The runs in one picture

# COMMAND ----------

import matplotlib.pyplot as plt

figure, axes = plt.subplots(figsize=(8, 3.5))
names = [run["run_id"] for run in runs]
below = [0] * len(runs)
for part, color in (
    ("new", "#31a354"),
    ("known", "#bdbdbd"),
    ("rejected", "#de2d26"),
    ("deferred", "#fdae6b"),
):
    heights = [run["counts"][part] for run in runs]
    axes.bar(names, heights, bottom=below, color=color, label=part, width=0.5)
    below = [low + height for low, height in zip(below, heights, strict=True)]
axes.plot(
    names,
    [lines for _, lines in lines_after.values()],
    marker="o",
    color="#3182bd",
    label="lines in the table",
)
axes.set_ylabel("records")
axes.set_title("What each run read, and what the table held after it")
axes.legend(loc="upper left", bbox_to_anchor=(1, 1))
figure.tight_layout()
figure

# COMMAND ----------

# MAGIC %md
# MAGIC ## Three queries to try

# COMMAND ----------

lake.sql(
    "SELECT run_id, command, counts['read'] AS read, counts['new'] AS new, counts['known'] AS known FROM run ORDER BY started_at"
).show(truncate=False)

# COMMAND ----------

lake.sql("SELECT run_id, count(*) AS lines FROM node_journal_line GROUP BY run_id ORDER BY run_id").show(
    truncate=False
)

# COMMAND ----------

lake.sql(
    "SELECT n, left(namespace, 17) AS namespace FROM node_journal_line WHERE record_id NOT IN"
    f" (SELECT record_id FROM node_journal_line VERSION AS OF {lines_after['reduce-1'][0]}) ORDER BY namespace, n"
).show(5)
