# Databricks notebook source
# MAGIC %md
# MAGIC # A damaged fleet in ten minutes
# MAGIC
# MAGIC Eight nodes send their journals. Some were damaged on the way. This notebook finds out which ones, where and why, and gets what is
# MAGIC missing from a peer.
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
# MAGIC ## Journals, and what happens to them
# MAGIC
# MAGIC A journal is a text: every line begins with the hash of the line before.
# MAGIC
# MAGIC The next cell reads two environment variables; you can write their values there instead. On several machines set `NOTEBOOK_FOLDER` to a
# MAGIC folder that all of them see, such as a volume. On Databricks set `NOTEBOOK_SCHEMA`, too, since lakes cannot be in folders there: with
# MAGIC `main.demo` they are in the schemas `main.demo_lake` and `main.demo_peer`.

# COMMAND ----------

import os
import tempfile
from pathlib import Path

from strandline.dialects.sdmp.author import synthetic

FOLDER = Path(os.environ.get("NOTEBOOK_FOLDER") or tempfile.mkdtemp(prefix="strandline-"))
SCHEMA = os.environ.get("NOTEBOOK_SCHEMA")


def place(name):
    """Where a lake is: the schema SCHEMA_name, or a folder."""
    return {"schema": f"{SCHEMA}_{name}"} if SCHEMA else {"path": FOLDER / name}


sent, arrived = FOLDER / "sent", FOLDER / "arrived"
for folder in (sent, arrived):
    folder.mkdir(parents=True, exist_ok=True)

journals = {f"node-{i}": list(synthetic(i, 40)) for i in range(8)}
for name, lines in journals.items():
    (sent / f"{name}.journal").write_bytes(b"\n".join(lines))


def flipped(line: bytes) -> bytes:
    """The first digit of the line's number is another one."""
    return (b"0" if line[:1] != b"0" else b"1") + line[1:]


damaged = dict(journals)
damaged["node-1"] = [*journals["node-1"][:19], flipped(journals["node-1"][19]), *journals["node-1"][20:]]
damaged["node-2"] = [*journals["node-2"][:10], *journals["node-2"][12:]]
damaged["node-3"] = [
    *journals["node-3"][:30],
    journals["node-3"][31],
    journals["node-3"][30],
    *journals["node-3"][32:],
]
damaged["node-4"] = journals["node-4"][:25]
for name, lines in damaged.items():
    (arrived / f"{name}.journal").write_bytes(b"\n".join(lines))

# COMMAND ----------

# MAGIC %md
# MAGIC ## Ingest: every line gets one verdict
# MAGIC
# MAGIC `read = new + known + rejected + deferred`. A rejected line is a row of `quarantine` with its reasons, not an exception.

# COMMAND ----------

import strandline

lake = strandline.open(**place("lake"))
lake.init(buckets=2)
landed = lake.ingest(arrived, dialect="sdmp")
lake.reduce()
landed

# COMMAND ----------

# MAGIC %md
# MAGIC ## What is damaged, and where
# MAGIC
# MAGIC In `node-1` one digit is another one, `node-2` lacks two lines, two lines of `node-3` changed places. `node-4` was cut at its end: what is there is
# MAGIC genuine, and only a peer that has more can show that something is missing.

# COMMAND ----------

files = lake.sql(
    "SELECT source, rejected, source_offset, array_join(reasons, ', ') AS reasons FROM damaged_source ORDER BY source"
)
damaged_files = {Path(row["source"]).name: row["reasons"] for row in files.collect()}
damaged_files

# COMMAND ----------

# MAGIC %md
# MAGIC What a reason means, and what to do:

# COMMAND ----------

for code in sorted(landed.reasons):
    told = lake.explain(code).members
    print(f"{code}\n  {told['meaning']}\n  {told['advice']}\n")

# COMMAND ----------

# MAGIC %md
# MAGIC ## Repair from a peer
# MAGIC
# MAGIC A peer has the journals whole. `sync` reads only what this lake lacks, and verifies it like any input.

# COMMAND ----------

before = {row["namespace"]: row["records"] for row in lake.status(all=True).members["rows"]}

peer = strandline.open(**place("peer"))
peer.init(buckets=2)
peer.ingest(sent, dialect="sdmp")
repaired = lake.sync(peer)
lake.reduce()
after = {row["namespace"]: row["records"] for row in lake.status(all=True).members["rows"]}
states = lake.sql(
    "SELECT namespace, lower(hex(state_hash)) AS state FROM namespace_state ORDER BY namespace"
).collect()
repaired

# COMMAND ----------

# MAGIC %md
# MAGIC ## The fleet in one picture

# COMMAND ----------

import matplotlib.pyplot as plt

names = sorted(after)
figure, axes = plt.subplots(figsize=(9, 3.5))
axes.barh(
    [name[5:17] for name in names], [after[name] for name in names], color="#9ecae1", label="after the repair"
)
axes.barh(
    [name[5:17] for name in names], [before[name] for name in names], color="#3182bd", label="as it arrived"
)
axes.set_xlabel("lines that are proved genuine")
axes.set_title("Eight journals before and after the repair")
axes.legend(loc="upper left", bbox_to_anchor=(1, 1))
figure.tight_layout()
figure

# COMMAND ----------

# MAGIC %md
# MAGIC ## Three queries to try

# COMMAND ----------

lake.sql(
    "SELECT health, count(*) AS namespaces FROM namespace_health GROUP BY health ORDER BY namespaces DESC"
).show()

# COMMAND ----------

lake.sql("SELECT reason, status, row_count, oldest FROM quarantine_age ORDER BY row_count DESC, reason").show(
    truncate=False
)

# COMMAND ----------

lake.sql(
    "SELECT source, count(*) AS lines FROM node_journal_entry GROUP BY source ORDER BY lines DESC, source"
).show(truncate=False)
