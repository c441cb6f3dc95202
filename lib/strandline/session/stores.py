"""Jars without which Spark cannot open a lake in an object store. Spark ships none of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from strandline.core.errors import FaultError

_JARS: Final[Mapping[str, str]] = {
    "s3a": "hadoop-aws", "s3": "hadoop-aws", "abfs": "hadoop-azure", "abfss": "hadoop-azure",
    "wasb": "hadoop-azure", "wasbs": "hadoop-azure", "gs": "gcs-connector",
}  # fmt: skip
_CLIENT: Final = "hadoop-client-api"


def check_store_jar(scheme: str | None, home: Path, environ: Mapping[str, str]) -> None:
    """Check that a local session from the Spark in `home` has the jar for the scheme of a lake; None is a folder.

    A folder of Spark's settings may name jars of its own: then nothing is checked.
    Raises: FaultError STORE_JAR_MISSING.
    """
    jar = _JARS.get(scheme or "")
    if jar is None or environ.get("SPARK_CONF_DIR") or (home / "conf" / "spark-defaults.conf").exists():
        return
    if not list((home / "jars").glob(f"{jar}-*.jar")):
        raise FaultError(
            "STORE_JAR_MISSING",
            f"Spark needs the jar {jar} for a lake at {scheme}://, and a session that Strandline starts lacks it",
            next_step(jar, home),
        )


def next_step(jar: str, home: Path) -> str:
    """Return how a session gets a jar: by spark-submit, in the version of Spark's own Hadoop."""
    found = sorted((home / "jars").glob(f"{_CLIENT}-*.jar"))
    version = found[0].stem.removeprefix(f"{_CLIENT}-") if found else "VERSION"
    package = "com.google.cloud.bigdataoss:gcs-connector:VERSION" if jar == "gcs-connector" else (
        f"org.apache.hadoop:{jar}:{version}"
    )  # fmt: skip
    scheme = " and give the lake as s3a://" if jar == "hadoop-aws" else ""
    return f"submit the job with `spark-submit --packages {package}`{scheme}, or name a folder with --lake"
