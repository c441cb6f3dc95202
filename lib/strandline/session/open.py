"""Opens a session: a new local one, or the existing one under spark-submit, on Databricks and in notebooks."""

import logging
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock, current_thread, main_thread
from typing import TYPE_CHECKING

import strandline
from strandline.config import Settings
from strandline.core.errors import FaultError
from strandline.session.classes import archive_options
from strandline.session.conf import (
    DELTA_CATALOG,
    DELTA_EXTENSION,
    JAVA,
    LOCAL,
    NEEDED,
    STRICT,
    log_config,
    spark_conf,
)
from strandline.session.jars import coordinate, kafka_coordinate, ready_jars
from strandline.session.java import check_java, find_java
from strandline.session.private import PrivateFolder, make_private
from strandline.session.stores import Setting, check_store_jar, is_on_databricks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_KEPT_LOGS = 20
# pyspark prints an error of a query as JSON on standard error as soon as the error is created.
_QUERY_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
# Set if this process runs inside a Spark that is already configured.
_HOSTS = ("PYSPARK_GATEWAY_PORT", "DATABRICKS_RUNTIME_VERSION", "SPARK_REMOTE")

_ONE_STARTS = Lock()

# Takes precedence over Spark's setting with the same meaning.
_LOCAL_DIRS = "SPARK_LOCAL_DIRS"


def is_hosted(environ: Mapping[str, str]) -> bool:
    """Return whether another program configures Spark: spark-submit, Databricks, Spark Connect."""
    return any(environ.get(name) for name in _HOSTS)


def log_path(settings: Settings, run_id: str) -> Path:
    """Return the file of Spark's log of the run."""
    return Path(settings.spark.state) / f"spark-{run_id}.log"


def open_session(
    settings: Settings, *, environ: MutableMapping[str, str], run_id: str, with_kafka: bool = False,
    scheme: str | None = None, source_scheme: str | None = None,
) -> "SparkSession":  # fmt: skip
    """Return a session with Delta and the table functions of dialects, in UTC, with strict reads.

    The active session, or that of the host, is used; another thread gets a session of its own in the running JVM, since
    a command changes settings and views of its session. Otherwise a local one is started, with jars from the cache
    (downloaded at first use; those of Kafka only if topics are read); `environ` then gets the interpreter of Python
    workers. `scheme` is that of the lake's URI, `source_scheme` that of a stream's prefix, if they have one. pyspark
    no longer prints errors itself.
    Raises: FaultError `JAVA_MISSING`, `JAVA_UNSUPPORTED`, `JAR_UNKNOWN`, `JAR_NOT_FETCHED`, `JAR_ALTERED`,
    `SPARK_NOT_STARTED`, `DELTA_MISSING`, `CORRUPT_FILES_IGNORED`, `SQL_READ_DIFFERENTLY`, `STATE_NOT_WRITABLE`,
    `STORE_JAR_MISSING`, `SPARK_TOO_OLD`.
    """
    # Before pyspark is imported: its message for a missing Java is a traceback.
    java = "" if is_hosted(environ) else check_java(environ)
    from pyspark.sql import SparkSession

    from strandline.session.functions import register

    _silence_pyspark()
    # Of threads that need the first session at once, one starts it.
    with _ONE_STARTS:
        active = SparkSession.getActiveSession()
        hosted = is_hosted(environ)
        if active is None and not (hosted and current_thread() is main_thread()):
            from strandline.session.classic.starting import another_session

            active = another_session()
        if active is None and hosted:
            active = SparkSession.builder.getOrCreate()
        if active is not None:
            session = _existing(active)
        else:
            _drop_foreign_spark(environ)
            check_store_jar(scheme, _home(environ), environ, source_scheme=source_scheme)
            session = _start(settings, environ, log_path(settings, run_id), java, with_kafka=with_kafka)
    register(session)
    return session


def _silence_pyspark() -> None:
    from pyspark.logger import PySparkLogger

    for name in _QUERY_LOGGERS:
        PySparkLogger.getLogger(name).disabled = True
    # The bridge prints a traceback of an error in the callback of a stream.
    logging.getLogger("py4j.clientserver").disabled = True


def check_session(setting: Setting) -> None:
    """Check that an existing session can be used; `setting` returns one of its settings, or its second argument.

    Raises: FaultError `DELTA_MISSING`, `CORRUPT_FILES_IGNORED`, `SQL_READ_DIFFERENTLY`.
    """
    if DELTA_EXTENSION not in (setting("spark.sql.extensions", "") or "") and not is_on_databricks(setting):
        raise FaultError(
            "DELTA_MISSING",
            "this Spark session has no Delta, and a running session cannot load jars",
            f"submit with `--packages {coordinate()} --conf spark.sql.extensions={DELTA_EXTENSION} "
            f"--conf spark.sql.catalog.spark_catalog={DELTA_CATALOG}`",
        )
    for key, needed in NEEDED.items():
        found = str(setting(key, needed.value))
        if found.lower() != needed.value.lower():
            raise FaultError(
                needed.code,
                f"this Spark session sets {key} to {found}, which {needed.harm}",
                f"submit with `--conf {key}={needed.value}`, or set it in the session",
            )


def _existing(session: "SparkSession") -> "SparkSession":
    """Return `session` after setting what its owner did not set. Raises: as `open_session`."""
    check_session(session.conf.get)
    from strandline.session.engine import engine_of

    owned = frozenset(session.conf.getAll)
    for key, value in STRICT.items():
        if key not in owned:
            session.conf.set(key, value)
    engine_of(session).ship(strandline)
    return session


def _start(
    settings: Settings, environ: MutableMapping[str, str], log: Path, java: str, *, with_kafka: bool
) -> "SparkSession":
    """Return a new local session on Java version `java`."""
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
    installed = (java, str(find_java(environ)), pyspark.__version__, str(_home(environ)))
    archive = archive_options(cache, installed)
    conf = spark_conf(settings, temporary=temporary, jars=jars, java=archive)
    with log.open("ab") as out, _local_dirs(environ, private):
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


@contextmanager
def _local_dirs(environ: MutableMapping[str, str], private: Iterable[PrivateFolder]) -> Iterator[None]:
    """Let a JVM that is started in the block use the private folders if the environment names their parents."""
    given = environ.get(_LOCAL_DIRS)
    if not given:
        yield
        return
    environ[_LOCAL_DIRS] = ",".join(str(each.path / LOCAL) for each in private)
    try:
        yield
    finally:
        environ[_LOCAL_DIRS] = given


def _drop_foreign_spark(environ: MutableMapping[str, str]) -> None:
    """Remove SPARK_HOME if it is not the Spark of the installed pyspark, for which the jar is built."""
    import pyspark

    home = environ.get("SPARK_HOME")
    if home and not list(Path(home, "jars").glob(f"spark-core_*-{pyspark.__version__}.jar")):
        del environ["SPARK_HOME"]


def _home(environ: Mapping[str, str]) -> Path:
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


def _prune_logs(folder: Path) -> None:
    """Remove all but the newest logs of Spark; their names do not tell which these are, since run ids can be given."""
    changed: dict[Path, int] = {}
    for log in folder.glob("spark-*.log"):
        # Another command may remove it meanwhile.
        with suppress(FileNotFoundError):
            changed[log] = log.stat().st_mtime_ns
    for old in sorted(changed, key=changed.__getitem__)[: -_KEPT_LOGS + 1]:
        old.unlink(missing_ok=True)
