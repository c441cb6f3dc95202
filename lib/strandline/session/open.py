"""Opens a session: a new local one, or the existing one under spark-submit, on Databricks and in notebooks."""

import logging
from collections.abc import Mapping, MutableMapping
from threading import Lock, current_thread, main_thread
from typing import TYPE_CHECKING

import strandline
from strandline.config import Settings
from strandline.core.errors import FaultError
from strandline.session.conf import DELTA_CATALOG, DELTA_EXTENSION, NEEDED, STRICT, Needed
from strandline.session.jars import coordinate
from strandline.session.java import check_java
from strandline.session.local import drop_foreign_spark, log_path, spark_home, start_local
from strandline.session.stores import Setting, check_store_jar, is_on_databricks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# pyspark prints an error of a query as JSON on standard error as soon as the error is created.
_QUERY_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
# Set if this process runs inside a Spark that is already configured.
_HOSTS = ("PYSPARK_GATEWAY_PORT", "DATABRICKS_RUNTIME_VERSION", "SPARK_REMOTE")
_CATALOG = "spark.sql.catalog.spark_catalog"
_NO_CATALOG = (None, "builtin")
"""What a session says that has no such catalog: over Spark Connect it is the default of the setting."""

_ONE_STARTS = Lock()


def is_hosted(environ: Mapping[str, str]) -> bool:
    """Return whether another program configures Spark: spark-submit, Databricks, Spark Connect."""
    return any(environ.get(name) for name in _HOSTS)


def open_session(
    settings: Settings, *, environ: MutableMapping[str, str], run_id: str, with_kafka: bool = False,
    scheme: str | None = None, source_scheme: str | None = None, from_scheme: str | None = None,
) -> "SparkSession":  # fmt: skip
    """Return a session with Delta and the table functions of dialects, in UTC, with strict reads.

    The active session, or that of the host, is used; another thread gets a session of its own in the running JVM, since
    a command changes settings and views of its session. Otherwise a local one is started, with jars from the cache
    (downloaded at first use; those of Kafka only if topics are read); `environ` then gets the interpreter of Python
    workers. `scheme` is that of the lake's URI, `source_scheme` that of a stream's prefix, `from_scheme` that of a
    lake to copy from, if they have one. pyspark no longer prints errors itself.
    Raises: FaultError `JAVA_MISSING`, `JAVA_UNSUPPORTED`, `JAR_UNKNOWN`, `JAR_NOT_FETCHED`, `JAR_ALTERED`,
    `SPARK_NOT_STARTED`, `DELTA_MISSING`, `CORRUPT_FILES_IGNORED`, `SQL_READ_DIFFERENTLY`, `STATE_NOT_WRITABLE`,
    `STORE_JAR_MISSING`, `SPARK_TOO_OLD`; UsageError `LAKE_PATH_INVALID`, see `check_store_jar`.
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
            drop_foreign_spark(environ)
            check_store_jar(
                scheme, spark_home(environ), environ, source_scheme=source_scheme, from_scheme=from_scheme
            )
            session = start_local(settings, environ, log_path(settings, run_id), java, with_kafka=with_kafka)
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
    has_extension = DELTA_EXTENSION in (setting("spark.sql.extensions", "") or "")
    has_catalog = setting(_CATALOG, None) not in _NO_CATALOG
    if not (has_extension and has_catalog) and not is_on_databricks(setting):
        lacking = f"has Delta without its catalog ({_CATALOG})" if has_extension else "has no Delta"
        raise FaultError(
            "DELTA_MISSING",
            f"this Spark session {lacking}, and a running session cannot load jars",
            f"submit with `--packages {coordinate()} --conf spark.sql.extensions={DELTA_EXTENSION} "
            f"--conf {_CATALOG}={DELTA_CATALOG}`",
        )
    check_settings(setting, NEEDED)


def check_settings(setting: Setting, every: Mapping[str, Needed]) -> None:
    """Check that a session sets nothing else than is needed. Raises: FaultError, with the code of the setting."""
    for key, needed in every.items():
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
