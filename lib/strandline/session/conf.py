"""The configuration of the local session, as values."""

import struct
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from strandline.config import Settings

DELTA_EXTENSION = "io.delta.sql.DeltaSparkSessionExtension"
DELTA_CATALOG = "org.apache.spark.sql.delta.catalog.DeltaCatalog"

# Settings for equal results everywhere and strict reads. In a session that others configured, only those are set that
# its owner did not set.
STRICT: Mapping[str, str] = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.parquet.compression.codec": "zstd",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
}


class Needed(NamedTuple):
    """The value of a setting without which no session is used, and the code and the harm of another value."""

    value: str
    code: str
    harm: str


_LOSES: Final = Needed("false", "CORRUPT_FILES_IGNORED", "silently loses records")
NEEDED: Mapping[str, Needed] = {
    "spark.sql.files.ignoreCorruptFiles": _LOSES,
    "spark.sql.files.ignoreMissingFiles": _LOSES,
    "spark.sql.timestampType": Needed(
        "TIMESTAMP_LTZ", "SQL_READ_DIFFERENTLY", "makes columns of time without a zone"
    ),
    "spark.sql.ansi.enforceReservedKeywords": Needed(
        "false", "SQL_READ_DIFFERENTLY", "refuses names of columns"
    ),
    "spark.sql.parser.escapedStringLiterals": Needed(
        "false", "SQL_READ_DIFFERENTLY", "would give tables constraints that nothing can read"
    ),
    "spark.sql.legacy.createEmptyCollectionUsingStringType": Needed(
        "false", "SQL_READ_DIFFERENTLY", "makes every empty array one of texts"
    ),
    "spark.sql.execution.arrow.useLargeVarTypes": Needed(
        "false", "SQL_READ_DIFFERENTLY", "gives Python other types of columns"
    ),
    "spark.sql.function.concatBinaryAsString": Needed(
        "false", "SQL_READ_DIFFERENTLY", "reads the bytes that are hashed as text"
    ),
    "spark.sql.parser.quotedRegexColumnNames": Needed(
        "false", "SQL_READ_DIFFERENTLY", "takes quoted names of columns for patterns"
    ),
}
NEEDED_AT_A_PATH: Mapping[str, Needed] = {
    "spark.sql.runSQLOnFiles": Needed("true", "SQL_READ_DIFFERENTLY", "finds no table by its path"),
}
"""What a session needs, too, for a lake at a path."""

# Spark stores blocks in pieces of slightly more than 1 MiB. With a heap below 8 GB, G1 has regions of 1 or 2 MiB, gives
# each piece its own regions and leaves half of them empty: the heap is full when Spark counts half of it (measured with
# ten million lines in 2 GB). Larger regions hold many pieces each.
REGIONS = "-XX:G1HeapRegionSize=8m"

WORKERS: Final = "strandline.session.daemon"
"""The module that starts Python workers; only for local mode, where it is always installed."""
LOCAL: Final = "spark"
JAVA: Final = "java"
"""Subfolders of the session's folder: blocks and shuffle data; temporary files. Java creates neither."""
PAGES: Final = 4096
"""Pages of Spark's memory in a heap; a task can have 8,192, so a task never runs out of pages first."""
LEAST_PAGE: Final = 1024 * 1024
MOST_PAGE: Final = 64 * 1024 * 1024
_UNITS: Mapping[str, int] = {"k": 1024, "m": 1024**2, "g": 1024**3}

# Settings for a fast and quiet session on one machine.
_LOCAL_MODE: Mapping[str, str] = {
    # Spark's limit includes what it caches and sorts, but not the row groups that Parquet reads and writes.
    "spark.memory.fraction": "0.5",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # Spark formats the plan of each query for the UI, which is off: use the short format.
    "spark.sql.ui.explainMode": "simple",
    # And name one column of each step: the text of wide plans took a tenth of the CPU of small commands.
    "spark.sql.debug.maxToStringFields": "1",
    # Both cost a tenth of the CPU of small queries: the place of each call, for messages of errors (a stack trace per
    # expression), and a check of the plan after each rule of the optimiser.
    "spark.sql.dataFrameQueryContext.enabled": "false",
    "spark.sql.lightweightPlanChangeValidation": "false",
    # The same place, looked for by Python: six calls of the JVM for each one that builds a column or a frame.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    # The working folder may contain untrusted files: do not import a pandas.py from there.
    "spark.executorEnv.PYTHONSAFEPATH": "1",
    # Only this machine can connect to the driver, and no name server is asked for its name.
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    # A path without a scheme is one of this machine, also where HADOOP_CONF_DIR names a cluster of HDFS for sources.
    "spark.hadoop.fs.defaultFS": "file:///",
    # The defaults are for thousands of files: a snapshot of 50 tasks and a listing of 10,000 cost seconds here.
    "spark.databricks.delta.snapshotPartitions": "2",
    # For a list of all files in each checksum file Delta runs a query in every commit, and nothing reads the list.
    "spark.databricks.delta.allFilesInCrc.enabled": "false",
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
    """Return the configuration of a local session; `java` are further options of its JVM.

    Spark writes only to `temporary`, its private folder, and to the cache, and does not use the network.
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
        "spark.executor.extraJavaOptions": REGIONS,
        "spark.jars": ",".join(str(jar) for jar in jars),
        **of_workers,
        # The file spark-defaults.conf of this machine may have other values, and is for its own programs.
        **{key: needed.value for key, needed in (*NEEDED.items(), *NEEDED_AT_A_PATH.items())},
        **STRICT,
        **_LOCAL_MODE,
    }


def page_bytes(heap: str) -> int:
    """Return the bytes of a page of Spark's memory for a heap size like "2g".

    Each hash table of a broadcast has at least one page, however few its rows. Spark's default page has 32 MiB with a
    heap of 2 GB and two cores: thirty small joins of one plan would fill the heap with empty pages.
    """
    heap_bytes = int(heap[:-1]) * _UNITS[heap[-1].lower()]
    return min(max(heap_bytes // PAGES, LEAST_PAGE), MOST_PAGE)


def log_config(log: Path) -> str:
    """Return the log4j2 configuration that writes WARN and above to the file `log`, in ASCII.

    Two classes of Spark warn in every command, of a deprecated setting in `NEEDED` and of each local checkpoint. The
    log of a session that runs for months would be mostly these lines.
    """
    return "\n".join(
        (
            "status = error",
            "rootLogger.level = warn",
            "rootLogger.appenderRef.file.ref = file",
            "logger.settings.name = org.apache.spark.sql.internal.SQLConf",
            "logger.settings.level = error",
            "logger.checkpoints.name = org.apache.spark.rdd.MapPartitionsRDD",
            "logger.checkpoints.level = error",
            "appender.file.type = File",
            "appender.file.name = file",
            f"appender.file.fileName = {_as_property(str(log))}",
            "appender.file.append = true",
            "appender.file.layout.type = PatternLayout",
            "appender.file.layout.pattern = %d{yyyy-MM-dd HH:mm:ss} %p %c{1}: %m%n%ex",
            "",
        )
    )


def _as_property(value: str) -> str:
    """Return `value` for a file of properties, which Java reads as ISO 8859-1 with escapes, without leading spaces."""
    units = struct.iter_unpack(">H", value.encode("utf-16-be", "surrogatepass"))
    return "".join(
        chr(unit) if 0x20 < unit < 0x7F and unit != ord("\\") else f"\\u{unit:04x}" for (unit,) in units
    )
