"""The Delta jar: which one, and where it is kept so that everything works offline after the first run."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path

MARKER = "complete.json"
_SCALA = "2.13"
# Only these groups' jars are kept: Spark ships all else that Delta names.
WANTED_GROUPS = ("io.delta", "io.unitycatalog")
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


def _folder(cache: Path) -> Path:
    return cache / "jars" / coordinate().replace(":", "_")


def ivy_folder(cache: Path) -> Path:
    """Return the folder that Spark's Ivy works in."""
    return cache / "ivy"


def cached_jars(cache: Path) -> tuple[Path, ...]:
    """Return the jars kept in `cache`, ascending; none unless all of them are there with their sizes."""
    folder = _folder(cache)
    try:
        sizes = json.loads((folder / MARKER).read_text(encoding="utf-8"))
        whole = all((folder / name).stat().st_size == size for name, size in sizes.items())
    except (OSError, ValueError, AttributeError):
        return ()
    return tuple(sorted(folder / name for name in sizes)) if whole else ()


def keep_jars(cache: Path, resolved: Iterable[Path]) -> tuple[Path, ...]:
    """Copy `resolved` into `cache` in one step and return the copies; a kill leaves nothing half done.

    Two processes that do so at once end with one whole folder.
    """
    folder = _folder(cache)
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=".new-", dir=folder.parent))
    sizes = {}
    for jar in resolved:
        if jar.name.startswith(tuple(f"{group}_" for group in WANTED_GROUPS)):
            shutil.copyfile(jar, fresh / jar.name)
            sizes[jar.name] = jar.stat().st_size
    (fresh / MARKER).write_text(json.dumps(sizes, sort_keys=True), encoding="utf-8")
    fresh.chmod(0o755)
    if folder.exists() and not cached_jars(cache):
        shutil.rmtree(folder, ignore_errors=True)
    try:
        os.rename(fresh, folder)
    except OSError:
        shutil.rmtree(fresh, ignore_errors=True)
    return cached_jars(cache)


def resolved_jars(cache: Path) -> tuple[Path, ...]:
    """Return the jars that Ivy put together for the last session."""
    return tuple(sorted((ivy_folder(cache) / "jars").glob("*.jar")))
