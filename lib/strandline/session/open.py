"""Opens the session: ours on a laptop, the one that exists in spark-submit, Databricks and notebooks."""

import logging
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strandline.config import Settings
from strandline.core.errors import FaultError
from strandline.session.classes import archive_options
from strandline.session.conf import (
    DELTA_CATALOG,
    DELTA_EXTENSION,
    JAVA,
    LOCAL,
    MEANING,
    log_config,
    spark_conf,
)
from strandline.session.jars import coordinate, kafka_coordinate, ready_jars
from strandline.session.java import check_java, find_java
from strandline.session.private import PrivateFolder, make_private
from strandline.session.ship import ship_package

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

_KEPT_LOGS = 20
# pyspark prints an error of a query as JSON on standard error when the error is made, before anybody can tell it.
_TALKATIVE = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
# Set by whoever started this process inside a Spark that is already configured.
_HOSTS = ("PYSPARK_GATEWAY_PORT", "DATABRICKS_RUNTIME_VERSION", "SPARK_REMOTE")

# Spark reads it before its own setting of the same meaning.
_LOCAL_DIRS = "SPARK_LOCAL_DIRS"


def is_hosted(environ: Mapping[str, str]) -> bool:
    """Return whether Spark is somebody else's here: spark-submit, Databricks, Spark Connect."""
    return any(environ.get(name) for name in _HOSTS)


def log_path(settings: Settings, run_id: str) -> Path:
    """Return the file that Spark's own log of the run goes to."""
    return Path(settings.spark.state) / f"spark-{run_id}.log"


def open_session(
    settings: Settings, *, environ: MutableMapping[str, str], run_id: str, with_kafka: bool = False
) -> "SparkSession":
    """Return a session with Delta and the dialects' table functions, in UTC, that reads strictly.

    On a laptop it is started, with the jars from the cache (fetched when first used; those of Kafka only where
    topics are read); `environ` then gets the
    interpreter that runs Python workers. Where a session or its owner is there already, that one is used. From then
    on pyspark prints nothing of its own about errors: whoever catches one tells it.
    Raises: FaultError `JAVA_MISSING`, `JAVA_UNSUPPORTED`, `JAR_UNKNOWN`, `JAR_NOT_FETCHED`, `JAR_ALTERED`,
    `SPARK_NOT_STARTED`, `DELTA_MISSING`, `CORRUPT_FILES_IGNORED`, `STATE_NOT_WRITABLE`.
    """
    # Before pyspark is imported at all: its own message for a missing Java is a traceback.
    java = "" if is_hosted(environ) else check_java(environ)
    from pyspark.sql import SparkSession

    from strandline.session.functions import register

    _keep_pyspark_quiet()
    if SparkSession.getActiveSession() is not None or is_hosted(environ):
        session = _existing(SparkSession.builder.getOrCreate())
    else:
        session = _start(settings, environ, log_path(settings, run_id), java, with_kafka=with_kafka)
    register(session)
    return session


def end_session(session: "SparkSession") -> None:
    """End the JVM of a session that this process started, at once; what it had committed stands."""
    context = _context(session)
    gateway = None if context is None else context._gateway  # noqa: SLF001 - pyspark knows its JVM by no other name
    started: Any = getattr(gateway, "proc", None)
    if started is not None:
        started.kill()


def _keep_pyspark_quiet() -> None:
    from pyspark.logger import PySparkLogger

    for name in _TALKATIVE:
        PySparkLogger.getLogger(name).disabled = True
    # Of an error in what a stream calls back the bridge prints a traceback of its own.
    logging.getLogger("py4j.clientserver").disabled = True


def check_session(setting: Callable[[str, str | None], str | None]) -> None:
    """See that a session that others started can be used; `setting` gives a setting of it, or its second argument.

    Raises: FaultError `DELTA_MISSING`, `CORRUPT_FILES_IGNORED`.
    """
    on_databricks = setting("spark.databricks.clusterUsageTags.clusterId", None) is not None
    if DELTA_EXTENSION not in (setting("spark.sql.extensions", "") or "") and not on_databricks:
        raise FaultError(
            "DELTA_MISSING",
            "this Spark session has no Delta, and a running session takes no jar",
            f"submit with `--packages {coordinate()} --conf spark.sql.extensions={DELTA_EXTENSION} "
            f"--conf spark.sql.catalog.spark_catalog={DELTA_CATALOG}`",
        )
    for key in ("spark.sql.files.ignoreCorruptFiles", "spark.sql.files.ignoreMissingFiles"):
        if str(setting(key, "false")).lower() == "true":
            raise FaultError(
                "CORRUPT_FILES_IGNORED",
                f"this Spark session sets {key}, which loses records without a word",
                f"submit with `--conf {key}=false`",
            )


def _existing(session: "SparkSession") -> "SparkSession":
    """Return `session` with what its owner left open set; see `open_session` for what it raises."""
    check_session(session.conf.get)
    context = _context(session)
    owned = _set_by_owner(context)
    for key, value in MEANING.items():
        if key not in owned:
            session.conf.set(key, value)
    if context is not None:
        ship_package(context)
    return session


def _context(session: "SparkSession") -> "SparkContext | None":
    """Return the session's context; on Spark Connect there is none."""
    from pyspark.errors import PySparkException

    try:
        return session.sparkContext
    except (PySparkException, AttributeError):
        return None


def _set_by_owner(context: "SparkContext | None") -> frozenset[str]:
    """Return the keys that somebody set in the session; on Spark Connect all of them, since it does not tell."""
    return frozenset(MEANING if context is None else (key for key, _ in context.getConf().getAll()))


def _start(
    settings: Settings, environ: MutableMapping[str, str], log: Path, java: str, *, with_kafka: bool
) -> "SparkSession":
    """Return a new session of our own, on a Java of the version `java`."""
    import pyspark
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkRuntimeError
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    # Python workers run this interpreter; spark.pyspark.python is ignored outside spark-submit (measured).
    environ["PYSPARK_PYTHON"] = environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    _drop_foreign_spark(environ)
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
    (temporary / "log4j2.properties").write_text(log_config(log), encoding="utf-8")
    # Where Spark's jars are, and so the classes of an archive.
    home = environ.get("SPARK_HOME") or str(Path(pyspark.__file__).parent)
    installed = (java, str(find_java(environ)), pyspark.__version__, home)
    conf = SparkConf(loadDefaults=False)
    archive = archive_options(cache, installed)
    ours = spark_conf(settings, temporary=temporary, jars=jars, java=archive)
    conf.setAll(list(ours.items()))
    try:
        with log.open("ab") as out:
            # Spark's scripts and the JVM write to both streams: neither may reach our standard output.
            launch: Callable[..., Any] = launch_gateway
            owners = [each.owner for each in private]
            with _local_dirs(environ, private):
                gateway = launch(conf, {"stdout": out, "stderr": out, "pass_fds": owners})
        session = SparkSession(SparkContext(conf=conf, gateway=gateway))
    except PySparkRuntimeError:
        raise FaultError(
            "SPARK_NOT_STARTED",
            "Spark's JVM ended before it answered",
            f"read {log}; `strandline doctor` checks Java, the jar and the folders",
        ) from None
    return session


def _private_folders(environ: Mapping[str, str]) -> tuple[PrivateFolder, ...]:
    """Return a private folder in each folder that SPARK_LOCAL_DIRS names, else one in the system's temporary folder."""
    bases = environ.get(_LOCAL_DIRS) or tempfile.gettempdir()
    try:
        return tuple(make_private(Path(base)) for base in bases.split(","))
    except OSError as error:
        raise FaultError(
            "STATE_NOT_WRITABLE",
            f"no folder can be made in {bases}: {error.strerror}",
            f"name another with TMPDIR, or with {_LOCAL_DIRS}, in the environment",
        ) from None


@contextmanager
def _local_dirs(environ: MutableMapping[str, str], private: Iterable[PrivateFolder]) -> Iterator[None]:
    """Let a JVM that is started in the block use the private folders, where the environment names others."""
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
    """Take SPARK_HOME away if it is another Spark than the installed pyspark, which the jar is built for."""
    import pyspark

    home = environ.get("SPARK_HOME")
    if home and not list(Path(home, "jars").glob(f"spark-core_*-{pyspark.__version__}.jar")):
        del environ["SPARK_HOME"]


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FaultError(
            "STATE_NOT_WRITABLE",
            f"the folder {folder} cannot be made: {error.strerror}",
            "name another with --set spark.state=FOLDER and --set spark.cache=FOLDER",
        ) from None


def _prune_logs(folder: Path) -> None:
    """Remove Spark's logs but the newest; run ids sort by time."""
    for old in sorted(folder.glob("spark-*.log"))[: -_KEPT_LOGS + 1]:
        old.unlink(missing_ok=True)
