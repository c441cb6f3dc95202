"""What a session needs for a lake, or a prefix to follow, in an object store: jars, a log store for several drivers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from strandline.core.errors import FaultError, UsageError

_JARS: Final[Mapping[str, str]] = {
    "s3a": "hadoop-aws", "s3": "hadoop-aws", "abfs": "hadoop-azure", "abfss": "hadoop-azure",
    "wasb": "hadoop-azure", "wasbs": "hadoop-azure", "gs": "gcs-connector",
}  # fmt: skip
_WITHOUT_JAR: Final = frozenset({"hdfs", "webhdfs", "swebhdfs", "viewfs", "dbfs"})
"""Schemes of file systems that can be written and need no jar, in Spark or on Databricks."""
_CLIENT: Final = "hadoop-client-api"

NO_JAR: Final = re.compile(r"Class org\.apache\.hadoop\.fs\.\S+ not found|No FileSystem for scheme")
"""What Spark says of a store without its jar."""

_PUTS_BLINDLY: Final = frozenset(("s3", "s3a", "s3n"))
"""Schemes whose usual log store in Delta has no lock against other drivers: two can write one commit."""
_ONE_DRIVER: Final = "S3SingleDriverLogStore"

Setting = Callable[[str, str | None], str | None]
"""Returns one of a session's settings, or its second argument."""


def is_on_databricks(setting: Setting) -> bool:
    """Return whether a session runs on Databricks, which has jars, file systems and a log store of its own."""
    return setting("spark.databricks.clusterUsageTags.clusterId", None) is not None


def check_folder(lake: str, setting: Setting) -> None:
    """Check that a session can keep a lake in a folder of this machine. Raises: UsageError FOLDER_ON_DATABRICKS."""
    if is_on_databricks(setting):
        raise UsageError(
            "FOLDER_ON_DATABRICKS",
            f"the lake {lake} is a folder, and Databricks keeps tables in no folder of a machine and in no volume",
            "name a schema: --schema CATALOG.SCHEMA, in Python strandline.open(schema='CATALOG.SCHEMA')",
        )


def check_store_jar(
    scheme: str | None, home: Path, environ: Mapping[str, str], *, source_scheme: str | None = None,
    from_scheme: str | None = None,
) -> None:  # fmt: skip
    """Check that a local session from the Spark in `home` has the jars for the schemes of lakes and a stream's prefix.

    `from_scheme` is that of the lake of --from. None is a folder. A folder of Spark's settings may name jars of its
    own: then nothing is checked.
    Raises: FaultError STORE_JAR_MISSING; UsageError LAKE_PATH_INVALID (a scheme that no jar named here knows).
    """
    if environ.get("SPARK_CONF_DIR") or (home / "conf" / "spark-defaults.conf").exists():
        return
    places = "name a folder, s3a://BUCKET/PATH or hdfs://NAMENODE:PORT/PATH with"
    for each, advice in (
        (scheme, f"{places} --lake, or a schema with --schema"),
        (from_scheme, f"{places} --from, or a schema as CATALOG.SCHEMA"),
    ):
        if each is not None and each not in _JARS and each not in _WITHOUT_JAR:
            # The URI is not shown: it may have credentials in it.
            raise UsageError(
                "LAKE_PATH_INVALID",
                f"a lake cannot be at {each}://: Spark has no file system of this name that can be written",
                advice,
            )
    for each, option in ((scheme, "--lake"), (from_scheme, "--from"), (source_scheme, None)):
        jar = _JARS.get(each or "")
        if each is None or jar is None or list((home / "jars").glob(f"{jar}-*.jar")):
            continue
        if option is None:
            raise store_jar_missing(each, home)
        raise FaultError(
            "STORE_JAR_MISSING",
            f"Spark needs the jar {jar} for a lake at {each}://, and a session that Strandline starts lacks it",
            f"{_submit(jar, home)}{' and give the lake as s3a://' if jar == 'hadoop-aws' else ''}, "
            f"or name a folder with {option}",
        )


def store_jar_missing(scheme: str, home: Path | None = None) -> FaultError:
    """Return the error of a session that cannot list a stream's prefix, with the version of the Spark in `home`."""
    jar = _JARS.get(scheme, f"of the file system {scheme}")
    return FaultError(
        "STORE_JAR_MISSING",
        f"Spark needs the jar {jar} to follow a prefix at {scheme}://, and this session lacks it",
        f"{_submit(jar, home)}, or run `strandline ingest` on a schedule, which needs no jar",
    )


def _submit(jar: str, home: Path | None) -> str:
    """Return how a session gets a jar: by spark-submit, in the version of Spark's own Hadoop."""
    found = sorted((home / "jars").glob(f"{_CLIENT}-*.jar")) if home is not None else []
    version = found[0].stem.removeprefix(f"{_CLIENT}-") if found else "VERSION"
    package = "com.google.cloud.bigdataoss:gcs-connector:VERSION" if jar == "gcs-connector" else (
        f"org.apache.hadoop:{jar}:{version}"
    )  # fmt: skip
    return f"submit the job with `spark-submit --packages {package}`"


def has_lock(scheme: str | None, setting: Setting) -> bool:
    """Return whether the log store of a session keeps several drivers from writing the same commit of a table.

    `scheme` is that of the lake. A log store that the session's owner configured is trusted.
    """
    if scheme not in _PUTS_BLINDLY or is_on_databricks(setting):
        return True
    keys = (f"spark.delta.logStore.{scheme}.impl", "spark.delta.logStore.class")
    named = next((found for key in keys if (found := setting(key, None))), _ONE_DRIVER)
    return not named.endswith(_ONE_DRIVER)


def check_log_store(scheme: str | None, setting: Setting) -> None:
    """Check that several drivers can write to a lake at once. Raises: FaultError LOG_STORE_UNSAFE."""
    if not has_lock(scheme, setting):
        raise FaultError(
            "LOG_STORE_UNSAFE",
            f"the log store of this session for {scheme}:// is safe for one driver only, and the setting "
            "merge.several_drivers says that others write to the lake, too",
            f"submit with `--conf spark.delta.logStore.{scheme}.impl=CLASS`, a log store with a lock, as "
            "io.delta.storage.S3DynamoDBLogStore; or let one driver write, with merge.several_drivers=false",
        )
