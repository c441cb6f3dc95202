"""The configuration of the session that a laptop starts, as values."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from strandline.config import Settings

DELTA_EXTENSION = "io.delta.sql.DeltaSparkSessionExtension"
DELTA_CATALOG = "org.apache.spark.sql.delta.catalog.DeltaCatalog"

# What makes results the same everywhere, and reads strict. Set in our own session; in one that somebody else
# configured only where its owner said nothing.
MEANING: Mapping[str, str] = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.parquet.compression.codec": "zstd",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
}

# Spark keeps frames in pieces of 1 MiB and a little. In a heap of less than 8 GB G1 has regions of 1 or 2 MiB, gives
# each piece regions of its own and leaves half of them empty: the heap is full when Spark's books say half (measured
# with ten million lines in 2 GB). Larger regions take many pieces each.
REGIONS = "-XX:G1HeapRegionSize=8m"

WORKERS: Final = "strandline.session.daemon"
"""The module that starts Python workers; on this machine alone, where it is sure to be installed."""
LOCAL: Final = "spark"
JAVA: Final = "java"
"""Folders in that of the session: blocks and shuffled data; what Java and Spark call temporary. Java makes neither."""
PAGES: Final = 4096
"""A heap has so many pages of Spark's own memory; a task may hold 8,192, so that no task runs out of pages first."""
LEAST_PAGE: Final = 1024 * 1024
MOST_PAGE: Final = 64 * 1024 * 1024
_UNITS: Mapping[str, int] = {"k": 1024, "m": 1024**2, "g": 1024**3}

# What keeps a session on one machine quick and quiet.
_LAPTOP: Mapping[str, str] = {
    # Spark counts what it keeps and sorts, not the row groups that Parquet reads and writes beside it.
    "spark.memory.fraction": "0.5",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # Of each query Spark spells the plan, for pages that are not shown: in short then.
    "spark.sql.ui.explainMode": "simple",
    # A folder of untrusted files may be the working folder: what is called pandas.py there is not imported.
    "spark.executorEnv.PYTHONSAFEPATH": "1",
    # Nobody outside this machine may talk to the driver, and nothing asks a name server for its name.
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    # Defaults are for thousands of files: a snapshot of 50 tasks and a listing of 10,000 cost seconds here.
    "spark.databricks.delta.snapshotPartitions": "2",
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "8",
    "spark.hadoop.parquet.page.verify-checksum.enabled": "true",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.catalogImplementation": "in-memory",
}


def spark_conf(
    settings: Settings, *, temporary: Path, jars: Iterable[Path], java: Iterable[str] = ()
) -> dict[str, str]:
    """Return the configuration of our own session; `java` are more options of its JVM.

    Nothing of it writes outside `temporary`, a folder for this session alone, and the cache, and nothing of it asks
    the network.
    """
    is_local = settings.spark.master.startswith("local")
    of_workers = {"spark.python.daemon.module": WORKERS} if is_local else {}
    return {
        "spark.master": settings.spark.master,
        "spark.app.name": "strandline",
        "spark.driver.memory": settings.spark.driver_memory,
        "spark.buffer.pageSize": str(page_bytes(settings.spark.driver_memory)),
        "spark.sql.shuffle.partitions": str(settings.spark.shuffle_partitions),
        "spark.sql.extensions": DELTA_EXTENSION,
        "spark.sql.catalog.spark_catalog": DELTA_CATALOG,
        "spark.sql.warehouse.dir": str(temporary / "warehouse"),
        "spark.local.dir": str(temporary / LOCAL),
        "spark.driver.extraJavaOptions": " ".join(
            (
                REGIONS,
                f'"-Dlog4j2.configurationFile=file:{temporary / "log4j2.properties"}"',
                f'"-Dderby.system.home={temporary}"',
                f'"-Djava.io.tmpdir={temporary / JAVA}"',
                *(f'"{option}"' for option in java),
            )
        ),
        "spark.jars": ",".join(str(jar) for jar in jars),
        **of_workers,
        **MEANING,
        **_LAPTOP,
    }


def page_bytes(heap: str) -> int:
    """Return the bytes of a page of Spark's memory for a heap as "2g".

    Each hash table of a broadcast keeps a page at least, however few its rows are. By Spark's own rule a page has
    32 MiB in a heap of 2 GB and two cores: thirty small joins of one plan fill the heap with nothing.
    """
    held = int(heap[:-1]) * _UNITS[heap[-1].lower()]
    return min(max(held // PAGES, LEAST_PAGE), MOST_PAGE)


def log_config(log: Path) -> str:
    """Return the log4j2 configuration that sends WARN and up to the file `log`."""
    return "\n".join(
        (
            "status = error",
            "rootLogger.level = warn",
            "rootLogger.appenderRef.file.ref = file",
            "appender.file.type = File",
            "appender.file.name = file",
            f"appender.file.fileName = {log}",
            "appender.file.append = true",
            "appender.file.layout.type = PatternLayout",
            "appender.file.layout.pattern = %d{yyyy-MM-dd HH:mm:ss} %p %c{1}: %m%n%ex",
            "",
        )
    )
