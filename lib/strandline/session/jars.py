"""The jars that Spark lacks: fetched once, each refused unless its SHA-256 is the pinned one, and kept for later."""

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
"""The variable that names another repository; Spark's own scripts read it, too."""
MOST_BYTES: Final = 64 * 1024 * 1024
"""No pinned jar has so many: whatever answers with more is not read on."""
_SCALA: Final = "2.13"
_SECONDS: Final = 60


def coordinate(spark: str | None = None, delta: str | None = None) -> str:
    """Return the Maven coordinate of the Delta jar for the installed pyspark and delta-spark.

    The only place that derives it; always with the Spark version in the name, since the name without it moves.
    """
    spark_version = spark or version("pyspark")
    return f"io.delta:delta-spark_{'.'.join(spark_version.split('.')[:2])}_{_SCALA}:{delta or version('delta-spark')}"


def kafka_coordinate() -> str:
    """Return the Maven coordinate of Spark's own connector to Kafka, for the installed pyspark."""
    return f"org.apache.spark:spark-sql-kafka-0-10_{_SCALA}:{version('pyspark')}"


def cached_jars(cache: Path, asked: str | None = None) -> tuple[Path, ...]:
    """Return the jars of a coordinate (Delta's) kept in `cache`; none unless each is there with its pinned SHA-256."""
    asked = asked or coordinate()
    folder = _folder(cache, asked)
    jars = PINS.get(asked, ())
    return tuple(folder / jar.name for jar in jars) if all(_is_kept(folder, jar) for jar in jars) else ()


def fetch_jars(cache: Path, asked: str, environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Fetch the jars of a coordinate into `cache`, in one step, and return them.

    No byte of them is used before its hash was checked. A kill leaves nothing half done; two processes that do so at
    once end with one whole folder.

    Raises: FaultError `JAR_UNKNOWN` (no pin for this version), `JAR_NOT_FETCHED`, `JAR_ALTERED` (another SHA-256).
    """
    if asked not in PINS:
        raise FaultError(
            "JAR_UNKNOWN",
            f"this version of Strandline does not know the jar {asked}",
            "install the versions of pyspark and delta-spark that come with it: pip install -r requirements.lock",
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
            _appear(fresh, folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return cached_jars(cache, asked)


def ready_jars(cache: Path, asked: Iterable[str], environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the jars of coordinates from `cache`, those that lack fetched first; see `fetch_jars` for its faults."""
    return tuple(
        jar for each in asked for jar in cached_jars(cache, each) or fetch_jars(cache, each, environ)
    )


def _folder(cache: Path, asked: str) -> Path:
    return cache / "jars" / asked.replace(":", "_")


def _appear(fresh: Path, folder: Path) -> None:
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
            f"not in the cache yet and could not be fetched: {source}: {error}",
            f"connect to the network once ({MAVEN}, or the mirror that {MIRROR} in the environment names) "
            "and run the command again",
        ) from None
    actual = hashlib.sha256(content).hexdigest()
    if actual != jar.sha256:
        raise FaultError(
            "JAR_ALTERED",
            f"{source} has the SHA-256 {actual}, and {jar.sha256} is expected: nothing of it was used",
            f"find out who answers for {repository}, or name another repository with {MIRROR}",
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
def _sha256(path: Path, inode: int, size: int, modified: int) -> str:  # noqa: ARG001 - another file, another call
    """Return the SHA-256 of a file; in one process it is read once as long as it stays the same."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
