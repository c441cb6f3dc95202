"""The jars that Spark lacks: which ones, and where they are kept so that all works offline after the first run."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

MARKER = "complete.json"
_SCALA = "2.13"
_OF_APACHE = "org.apache.*:*"
# Groups that Delta's jars name and Spark ships, as Ivy globs.
EXCLUDES = tuple(
    f"{group}:*"
    for group in (
        "com.fasterxml.*",
        "com.github.*",
        "com.google.*",
        "commons-*",
        "io.airlift",
        "jakarta.*",
        "javax.*",
        "org.apache.*",
        "org.codehaus.*",
        "org.locationtech.*",
        "org.openapitools",
        "org.roaringbitmap",
        "org.scala-lang",
        "org.slf4j",
        "org.xerial.*",
    )
)


def coordinate(spark: str | None = None, delta: str | None = None) -> str:
    """Return the Maven coordinate of the Delta jar for the installed pyspark and delta-spark.

    The only place that derives it; always with the Spark version in the name, since the name without it moves.
    """
    spark_version = spark or version("pyspark")
    return f"io.delta:delta-spark_{'.'.join(spark_version.split('.')[:2])}_{_SCALA}:{delta or version('delta-spark')}"


def kafka_coordinate() -> str:
    """Return the Maven coordinate of Spark's own connector to Kafka, for the installed pyspark."""
    return f"org.apache.spark:spark-sql-kafka-0-10_{_SCALA}:{version('pyspark')}"


@dataclass(frozen=True, slots=True)
class Bundle:
    """Jars that come together: what Ivy is asked for, what of its answer is kept, what need not be fetched.

    `kept` are the beginnings of names as Ivy writes them, `excludes` Ivy globs of what Spark ships.
    """

    coordinate: str
    kept: tuple[str, ...]
    excludes: tuple[str, ...]


def delta() -> Bundle:
    """Return the jars of Delta, which every session needs."""
    return Bundle(coordinate(), ("io.delta_", "io.unitycatalog_"), EXCLUDES)


def kafka() -> Bundle:
    """Return the jars of Spark's connector to Kafka, which `stream` needs of a topic."""
    of_spark = f"{_SCALA}-{version('pyspark')}."
    return Bundle(
        kafka_coordinate(),
        (
            f"org.apache.spark_spark-sql-kafka-0-10_{of_spark}",
            f"org.apache.spark_spark-token-provider-kafka-0-10_{of_spark}",
            "org.apache.kafka_kafka-clients-",
            "org.apache.commons_commons-pool2-",
        ),
        (*(each for each in EXCLUDES if each != _OF_APACHE), "at.yawk.*:*", "org.apache.hadoop:*"),
    )


def _folder(cache: Path, bundle: Bundle) -> Path:
    return cache / "jars" / bundle.coordinate.replace(":", "_")


def ivy_folder(cache: Path) -> Path:
    """Return the folder that Spark's Ivy works in."""
    return cache / "ivy"


def cached_jars(cache: Path, bundle: Bundle | None = None) -> tuple[Path, ...]:
    """Return the jars of a bundle (Delta's) kept in `cache`, ascending; none unless all are there with their sizes."""
    folder = _folder(cache, bundle or delta())
    try:
        sizes = json.loads((folder / MARKER).read_text(encoding="utf-8"))
        whole = all((folder / name).stat().st_size == size for name, size in sizes.items())
    except (OSError, ValueError, AttributeError):
        return ()
    return tuple(sorted(folder / name for name in sizes)) if whole else ()


def keep_jars(cache: Path, resolved: Iterable[Path], bundle: Bundle | None = None) -> tuple[Path, ...]:
    """Copy what of `resolved` is of a bundle (Delta's) into `cache` in one step and return the copies.

    A kill leaves nothing half done. Two processes that do so at once end with one whole folder.
    """
    bundle = bundle or delta()
    folder = _folder(cache, bundle)
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=".new-", dir=folder.parent))
    sizes = {}
    for jar in resolved:
        if jar.name.startswith(bundle.kept):
            shutil.copyfile(jar, fresh / jar.name)
            sizes[jar.name] = jar.stat().st_size
    (fresh / MARKER).write_text(json.dumps(sizes, sort_keys=True), encoding="utf-8")
    fresh.chmod(0o755)
    if folder.exists() and not cached_jars(cache, bundle):
        shutil.rmtree(folder, ignore_errors=True)
    try:
        os.rename(fresh, folder)
    except OSError:
        shutil.rmtree(fresh, ignore_errors=True)
    return cached_jars(cache, bundle)


def resolved_jars(cache: Path) -> tuple[Path, ...]:
    """Return the jars that Ivy put together for the last session."""
    return tuple(sorted((ivy_folder(cache) / "jars").glob("*.jar")))
