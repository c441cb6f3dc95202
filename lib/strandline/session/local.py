"""Starts a local session: the jars, the private folders and the log of its JVM."""

import fcntl
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from strandline.config import Settings
from strandline.core.errors import FaultError
from strandline.core.safe_files import open_file
from strandline.session.classes import archive_options
from strandline.session.conf import JAVA, LOCAL, log_config, spark_conf
from strandline.session.jars import coordinate, kafka_coordinate, ready_jars
from strandline.session.java import find_java
from strandline.session.private import PrivateFolder, make_private

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_KEPT_LOGS = 20

# Takes precedence over Spark's setting with the same meaning.
_LOCAL_DIRS = "SPARK_LOCAL_DIRS"
_LOCALES = ("LC_ALL", "LC_CTYPE", "LANG")
"""Variables with the locale, the first one that is not empty counts."""
_ASCII = ("C", "POSIX")


def log_path(settings: Settings, run_id: str) -> Path:
    """Return the file of Spark's log of the run."""
    return Path(settings.spark.state) / f"spark-{run_id}.log"


def start_local(
    settings: Settings, environ: MutableMapping[str, str], log: Path, java: str, *, with_kafka: bool
) -> "SparkSession":
    """Return a new local session on Java version `java`. Raises: FaultError, see `open_session`."""
    import pyspark

    from strandline.session.classic.starting import start

    # Python workers run this interpreter; spark.pyspark.python is ignored outside spark-submit (measured).
    environ["PYSPARK_PYTHON"] = environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    cache = Path(settings.spark.cache)
    _make_folder(log.parent)
    _prune_logs(log.parent)
    _make_folder(cache)
    asked = (coordinate(), kafka_coordinate()) if with_kafka else (coordinate(),)
    jars = ready_jars(cache, asked, environ)
    private = _private_folders(environ)
    temporary = private[0].path
    for name in (LOCAL, JAVA):
        (temporary / name).mkdir()
    (temporary / "log4j2.properties").write_text(log_config(log), encoding="ascii")
    # The folder of Spark's jars identifies the classes of an archive.
    installed = (java, str(find_java(environ)), pyspark.__version__, str(spark_home(environ)))
    archive = archive_options(cache, installed)
    conf = spark_conf(settings, temporary=temporary, jars=jars, java=archive)
    with _used_log(log) as out, _changed(environ, _environment_of_jvm(environ, private)):
        session = start(conf, out, owners=[each.owner for each in private])
    if session is None:
        raise FaultError(
            "SPARK_NOT_STARTED",
            "Spark's JVM ended before it answered",
            f"read {log}; `strandline doctor` checks Java, the jar and the folders",
        )
    return session


def _private_folders(environ: Mapping[str, str]) -> tuple[PrivateFolder, ...]:
    """Return a private folder in each folder that SPARK_LOCAL_DIRS names, else one in the system's temporary folder."""
    bases = environ.get(_LOCAL_DIRS) or tempfile.gettempdir()
    try:
        return tuple(make_private(Path(base)) for base in bases.split(","))
    except OSError as error:
        raise FaultError(
            "STATE_NOT_WRITABLE",
            f"no folder can be created in {bases}: {error.strerror}",
            f"name another folder in the environment variable TMPDIR or {_LOCAL_DIRS}",
        ) from None


def _environment_of_jvm(environ: Mapping[str, str], private: Iterable[PrivateFolder]) -> dict[str, str]:
    """Return what a JVM needs in its environment besides `environ`.

    These are: the private folders, if the environment names their parents; in a locale of ASCII one with the same words
    in UTF-8, since Java puts `?` into the names of files that its locale does not have.
    """
    changed = {}
    if environ.get(_LOCAL_DIRS):
        changed[_LOCAL_DIRS] = ",".join(str(each.path / LOCAL) for each in private)
    if next((found for name in _LOCALES if (found := environ.get(name))), "C") in _ASCII:
        changed[_LOCALES[0]] = "C.UTF-8"
    return changed


@contextmanager
def _changed(environ: MutableMapping[str, str], changed: Mapping[str, str]) -> Iterator[None]:
    """Let the environment have other values while the block runs."""
    before = {name: environ.get(name) for name in changed}
    environ.update(changed)
    try:
        yield
    finally:
        for name, given in before.items():
            if given is None:
                del environ[name]
            else:
                environ[name] = given


def drop_foreign_spark(environ: MutableMapping[str, str]) -> None:
    """Remove SPARK_HOME if it is not the Spark of the installed pyspark, for which the jar is built."""
    import pyspark

    home = environ.get("SPARK_HOME")
    if home and not list(Path(home, "jars").glob(f"spark-core_*-{pyspark.__version__}.jar")):
        del environ["SPARK_HOME"]


def spark_home(environ: Mapping[str, str]) -> Path:
    """Return the folder of Spark."""
    import pyspark

    return Path(environ.get("SPARK_HOME") or Path(pyspark.__file__).parent)


def _make_folder(folder: Path) -> None:
    if folder.parts[0] == "~":
        raise FaultError(
            "STATE_NOT_WRITABLE",
            f"this user has no home folder, so the folder {folder} cannot be created",
            "set HOME, or name folders with --set spark.state=FOLDER and --set spark.cache=FOLDER",
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FaultError(
            "STATE_NOT_WRITABLE",
            f"the folder {folder} cannot be created: {error.strerror}",
            "name another with --set spark.state=FOLDER and --set spark.cache=FOLDER",
        ) from None


@contextmanager
def _used_log(log: Path) -> Iterator[BinaryIO]:
    """Open a log for the output of a JVM. It is in use until all processes that inherit it have ended."""
    with log.open("ab") as out:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(out, fcntl.LOCK_SH)
        yield out


def _prune_logs(folder: Path) -> None:
    """Remove all but the newest logs of Spark, and those in use: a stream may have written to its log weeks ago.

    Their names do not tell which the newest are, since run ids can be given.
    """
    changed: dict[Path, int] = {}
    for log in folder.glob("spark-*.log"):
        # Another command may remove it meanwhile.
        with suppress(FileNotFoundError):
            changed[log] = log.stat().st_mtime_ns
    for old in sorted(changed, key=changed.__getitem__)[: -_KEPT_LOGS + 1]:
        if not _is_used(old):
            old.unlink(missing_ok=True)


def _is_used(log: Path) -> bool:
    try:
        with open_file(log) as opened:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False
