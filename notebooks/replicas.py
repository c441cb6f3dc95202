# Databricks notebook source
# MAGIC %md
# MAGIC # Two replicas converge, one forks
# MAGIC
# MAGIC Two lakes receive different parts of the same journals, in different orders. They copy what they lack from each other until both have the
# MAGIC same sets of records, and the same state hashes. Then one node tells Tokyo another history: the fork is found, with evidence.
# MAGIC
# MAGIC It needs Strandline, Spark and matplotlib: `pip install 'WHEEL[spark,notebook]'`, on Databricks `%pip install 'WHEEL[notebook]'`.

# COMMAND ----------

from importlib import import_module
from importlib.util import find_spec

INSTALL = (
    "Run: pip install 'WHEEL[spark,notebook]', on Databricks: %pip install 'WHEEL[notebook]'. "
    "WHEEL is the path of the wheel of Strandline"
)
missing = [name for name in ("strandline", "pyspark", "matplotlib") if find_spec(name) is None]
if missing:
    raise SystemExit(f"not installed: {', '.join(missing)}. {INSTALL}")
spark_version = import_module("pyspark").__version__
if tuple(map(int, spark_version.split(".")[:2])) < (4, 1):
    raise SystemExit(
        f"Strandline needs Spark 4.1 or later, this is {spark_version}. On Databricks take runtime 18 LTS or later. {INSTALL}"
    )

# COMMAND ----------

# MAGIC %md
# MAGIC ## Two lakes, two parts of the truth
# MAGIC
# MAGIC Six nodes write 30 lines each. London gets the first 20 lines of each journal, Tokyo all lines of three of them.
# MAGIC
# MAGIC The next cell reads two environment variables; you can write their values there instead. On several machines set `NOTEBOOK_FOLDER` to a
# MAGIC folder that all of them see, such as a volume. On Databricks set `NOTEBOOK_SCHEMA`, too, since lakes cannot be in folders there: with
# MAGIC `main.demo` they are in the schemas `main.demo_london` and `main.demo_tokyo`.

# COMMAND ----------

import os
import tempfile
from pathlib import Path

import strandline
from strandline.dialects.sdmp.author import append, synthetic, synthetic_id

FOLDER = Path(os.environ.get("NOTEBOOK_FOLDER") or tempfile.mkdtemp(prefix="strandline-"))
SCHEMA = os.environ.get("NOTEBOOK_SCHEMA")


def place(name):
    """Where a lake is: the schema SCHEMA_name, or a folder."""
    return {"schema": f"{SCHEMA}_{name}"} if SCHEMA else {"path": FOLDER / name}


journals = {f"node-{i}": list(synthetic(100 + i, 30)) for i in range(6)}
parts = {
    "london": {name: lines[:20] for name, lines in journals.items()},
    "tokyo": {name: lines for name, lines in journals.items() if name in ("node-1", "node-3", "node-5")},
}
lakes = {}
for city, texts in parts.items():
    folder = FOLDER / "in" / city
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in texts.items():
        (folder / f"{name}.journal").write_bytes(b"\n".join(lines))
    lakes[city] = strandline.open(**place(city))
    lakes[city].init(buckets=2)
    lakes[city].ingest(folder, dialect="sdmp")
    lakes[city].reduce()


def states(lake):
    """The number of records and the state hash of each namespace."""
    rows = lake.table("namespace_state").select("namespace", "record_count", "state_hash").collect()
    return {row["namespace"]: (row["record_count"], bytes(row["state_hash"]).hex()) for row in rows}


at_first = {city: states(lake) for city, lake in lakes.items()}

# COMMAND ----------

# MAGIC %md
# MAGIC ## They exchange what they lack
# MAGIC
# MAGIC The lakes compare their sets by namespace, and read only missing records.

# COMMAND ----------

to_london = lakes["london"].sync(lakes["tokyo"])
to_tokyo = lakes["tokyo"].sync(lakes["london"])
for lake in lakes.values():
    lake.reduce()
converged = {city: states(lake) for city, lake in lakes.items()}
print("equal states:", converged["london"] == converged["tokyo"])
print("copied to London:", to_london.counts["new"], "to Tokyo:", to_tokyo.counts["new"])

# COMMAND ----------

# MAGIC %md
# MAGIC Once more: nothing is missing, so nothing is read.

# COMMAND ----------

nothing = lakes["london"].sync(lakes["tokyo"])
nothing

# COMMAND ----------

# MAGIC %md
# MAGIC ## One node forks
# MAGIC
# MAGIC `node-5` tells Tokyo another line 26 and what follows. Both histories are genuine chains, so both are kept: a fork is evidence against the node
# MAGIC that wrote it, and does not show which history is the right one.

# COMMAND ----------

first = journals["node-5"][0]
author = synthetic_id("author", 1)
other = journals["node-5"][:25] + list(
    append(journals["node-5"][24], [(author, synthetic_id("resource", 900 + k)) for k in range(5)], "0.9")
)
folder = FOLDER / "in" / "other"
folder.mkdir(parents=True, exist_ok=True)
(folder / "node-5.journal").write_bytes(b"\n".join(other))
lakes["tokyo"].ingest(folder, dialect="sdmp")
lakes["tokyo"].reduce()
forks = [
    row.asDict() for row in lakes["tokyo"].table("equivocation").select("namespace", "position").collect()
]
forks

# COMMAND ----------

# MAGIC %md
# MAGIC London learns of it by its next `sync`, and both agree on the fork, too.

# COMMAND ----------

lakes["london"].sync(lakes["tokyo"])
lakes["london"].reduce()
at_last = {city: states(lake) for city, lake in lakes.items()}
print("equal states:", at_last["london"] == at_last["tokyo"])

# COMMAND ----------

# MAGIC %md
# MAGIC ## How the replicas met, in one picture

# COMMAND ----------

import matplotlib.pyplot as plt

steps = {"at first": at_first, "after sync": converged, "after the fork": at_last}
figure, axes = plt.subplots(figsize=(8, 3.5))
for city, color in (("london", "#3182bd"), ("tokyo", "#e6550d")):
    records = [sum(count for count, _ in step[city].values()) for step in steps.values()]
    axes.plot(list(steps), records, marker="o", color=color, label=city, alpha=0.7)
for at, step in enumerate(steps.values()):
    agree = sum(
        step["london"].get(name) == step["tokyo"].get(name) for name in step["london"] | step["tokyo"]
    )
    axes.annotate(f"{agree} of 6 states equal", (at, 200), ha="center")
axes.set_ylim(80, 215)
axes.margins(x=0.2)
axes.set_ylabel("records")
axes.set_title("Two replicas of six journals")
axes.legend(loc="lower right")
figure.tight_layout()
figure

# COMMAND ----------

# MAGIC %md
# MAGIC ## Three queries to try

# COMMAND ----------

lakes["tokyo"].sql(
    "SELECT namespace, health, records, forks FROM namespace_health ORDER BY forks DESC, namespace"
).show(truncate=False)

# COMMAND ----------

lakes["tokyo"].sql(
    "SELECT n, count(*) AS lines FROM node_journal_line GROUP BY n HAVING count(*) > 6 ORDER BY n"
).show()

# COMMAND ----------

lakes["london"].sql(
    "SELECT command, counts['read'] AS read, counts['new'] AS new, outcome FROM run ORDER BY started_at"
).show()
