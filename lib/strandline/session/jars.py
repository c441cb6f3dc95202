"""Jars that Spark does not ship: downloaded once, checked against their pinned SHA-256, cached."""

import hashlib
import shutil
import tempfile
import urllib.request
from collections.abc import Iterable, Mapping
from functools import lru_cache
from http.client import HTTPException
from importlib.metadata import version
from pathlib import Path
from typing import Final

from strandline.core.errors import FaultError
from strandline.session.pins import PINS, Jar

MAVEN: Final = "https://repo1.maven.org/maven2"
MIRROR: Final = "DEFAULT_ARTIFACT_REPOSITORY"
"""The environment variable that names another repository; Spark's scripts read it, too."""
MOST_BYTES: Final = 64 * 1024 * 1024
"""Greater than any pinned jar; a longer answer is not read to the end."""
_SCALA: Final = "2.13"
_SECONDS: Final = 60


def coordinate(spark: str | None = None, delta: str | None = None) -> str:
    """Return the Maven coordinate of the Delta jar for the installed pyspark and delta-spark.

    The name includes the Spark version, since the name without it depends on the release.
    """
    spark_version = spark or version("pyspark")
    return f"io.delta:delta-spark_{'.'.join(spark_version.split('.')[:2])}_{_SCALA}:{delta or version('delta-spark')}"


def kafka_coordinate() -> str:
    """Return the Maven coordinate of Spark's Kafka connector, for the installed pyspark."""
    return f"org.apache.spark:spark-sql-kafka-0-10_{_SCALA}:{version('pyspark')}"


def cached_jars(cache: Path, asked: str | None = None) -> tuple[Path, ...]:
    """Return the cached jars of a coordinate (default: Delta's); none unless all have their pinned SHA-256."""
    asked = asked or coordinate()
    folder = _folder(cache, asked)
    jars = PINS.get(asked, ())
    return tuple(folder / jar.name for jar in jars) if all(_is_kept(folder, jar) for jar in jars) else ()


def fetch_jars(cache: Path, asked: str, environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Download the jars of a coordinate into `cache`, in one step, and return them.

    A jar is used only after its hash was checked. A kill leaves no partial result; two processes at the same time end
    with one complete folder.

    Raises: FaultError `JAR_UNKNOWN` (no pin for this version), `JAR_NOT_FETCHED`, `JAR_ALTERED` (another SHA-256).
    """
    if asked not in PINS:
        raise FaultError(
            "JAR_UNKNOWN",
            f"this version of Strandline does not know the jar {asked}",
            "install the supported versions of pyspark and delta-spark: pip install -r requirements.lock",
        )
    folder = _folder(cache, asked)
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=".new-", dir=folder.parent))
    try:
        for jar in PINS[asked]:
            (fresh / jar.name).write_bytes(_fetched(jar, environ.get(MIRROR) or MAVEN))
        fresh.chmod(0o755)
        if not cached_jars(cache, asked):
            shutil.rmtree(folder, ignore_errors=True)
            _move(fresh, folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return cached_jars(cache, asked)


def ready_jars(cache: Path, asked: Iterable[str], environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the jars of coordinates from `cache`, after downloading missing ones. Raises: as `fetch_jars`."""
    return tuple(
        jar for each in asked for jar in cached_jars(cache, each) or fetch_jars(cache, each, environ)
    )


def _folder(cache: Path, asked: str) -> Path:
    return cache / "jars" / asked.replace(":", "_")


def _move(fresh: Path, folder: Path) -> None:
    try:
        fresh.rename(folder)
    except OSError:
        return  # another process was faster


def _fetched(jar: Jar, repository: str) -> bytes:
    source = f"{repository.rstrip('/')}/{jar.path}"
    try:
        with urllib.request.urlopen(source, timeout=_SECONDS) as answer:
            content: bytes = answer.read(MOST_BYTES)
    except (OSError, ValueError, HTTPException) as error:
        raise FaultError(
            "JAR_NOT_FETCHED",
            f"the cache lacks a jar that could not be downloaded: {source}: {error}",
            f"connect to the network once ({MAVEN}, or the mirror in the environment variable {MIRROR}) "
            "and run the command again",
        ) from None
    actual = hashlib.sha256(content).hexdigest()
    if actual != jar.sha256:
        raise FaultError(
            "JAR_ALTERED",
            f"{source} has the SHA-256 {actual}, but {jar.sha256} is expected: it was not used",
            f"check who operates {repository}, or name another repository with {MIRROR}",
        )
    return content


def _is_kept(folder: Path, jar: Jar) -> bool:
    path = folder / jar.name
    try:
        found = path.stat()
        return _sha256(path, found.st_ino, found.st_size, found.st_mtime_ns) == jar.sha256
    except OSError:
        return False


@lru_cache(maxsize=64)
def _sha256(path: Path, inode: int, size: int, modified: int) -> str:  # noqa: ARG001 - part of the cache key
    """Return the SHA-256 of a file; a process reads an unchanged file once."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
