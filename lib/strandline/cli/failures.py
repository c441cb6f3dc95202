"""Turns an exception into one sentence that names the fault and one that names the next step."""

import errno
import os
import re
import tempfile
import traceback
from pathlib import Path

from strandline.cli.text import printable
from strandline.core.errors import FaultError, StrandlineError, UsageError
from strandline.session.stores import NO_JAR
from strandline.tables.damage import FILE_GONE, RESTORE, is_from_delta_rs
from strandline.tables.refusals import BY_SCHEMA, IN_CATALOG, LEFT_TO_CATALOG, UPGRADE_OR_DROP

# Faults of the machine, as the system and Spark report them: code, sentence, next step.
_ENVIRONMENT_FAULTS = (
    (
        re.compile(r"\[(?:NOT_SUPPORTED_WITH_SERVERLESS|CONFIG_NOT_AVAILABLE)\b"),
        "COMPUTE_UNSUPPORTED",
        "Strandline needs persisted frames and settings that serverless compute does not have",
        "run the command on a job cluster, or attach the notebook to a cluster",
    ),
    (
        # As Databricks says it. Other words of a catalog are not shown: they can have the address of a metastore.
        re.compile(
            r"\[INSUFFICIENT_PERMISSIONS\b"
            r"(?:[^\n]*\s*User does not have (?:permission )?(?P<named>[A-Z_ ,]+ on \w+ [`'\w.]*[`'\w]))?"
        ),
        "CATALOG_DENIED",
        "this user lacks a right on the lake",
        "ask the owner of the schema for it: docs/databricks.md has the rights that each command needs",
    ),
    (
        NO_JAR,
        "STORE_JAR_MISSING",
        "Spark has no jar for the store of the lake",
        "submit with `--packages org.apache.hadoop:hadoop-aws:VERSION`, or hadoop-azure, in its Hadoop's version",
    ),
    (
        re.compile(r"No space left on device|Disk quota exceeded|File too large", re.IGNORECASE),
        "DISK_FULL",
        "the disk is full",
        "free space and run the command again: committed rows stay",
    ),
    (
        re.compile(
            r"Read-only file system|Permission denied|Operation not permitted|Not a directory|Mkdirs failed"
            r"|AccessControlException|AccessDenied",
            re.IGNORECASE,
        ),
        "NOT_WRITABLE",
        "a file or folder cannot be read or written",
        "give access to it, or name another folder with --lake, and run the command again",
    ),
    (
        FILE_GONE,
        "TABLE_DAMAGED",
        "a file of the lake or of the input is missing",
        "restore it from a copy of the lake, or put the input file back, and run the command again",
    ),
    (
        re.compile(
            r"FAILED_READ_FILE|ChecksumException|Checksum error|is not a Parquet file|ParquetDecodingException"
            r"|DELTA_(?:STATE_RECOVER_ERROR|TRUNCATED_TRANSACTION_LOG|VERSIONS_NOT_CONTIGUOUS|LOG_FILE_NOT_FOUND"
            r"|MISSING_PART_FILES|TXN_LOG_FAILED_INTEGRITY|CHECKSUM_MISMATCH\w*|UNRECOGNIZED_LOGFILE)"
        ),
        "TABLE_DAMAGED",
        "a file of the lake is cut or altered",
        RESTORE,
    ),
    (
        re.compile(
            r"DELTA_(?:UNSUPPORTED_FEATURES_FOR_(?:READ|WRITE)|INVALID_PROTOCOL_VERSION|UNSUPPORTED_WRITES_WITHOUT_COORDINATOR)"
        ),
        "TABLE_UNSUPPORTED",
        "a table of the lake has a feature of Delta that is unknown here",
        UPGRADE_OR_DROP,
    ),
    (
        re.compile("DELTA_PATH_BASED_ACCESS_TO_CATALOG_MANAGED_TABLE_BLOCKED"),
        "TABLE_UNSUPPORTED",
        f"a table of the lake {IN_CATALOG}",
        BY_SCHEMA,
    ),
    (
        re.compile(LEFT_TO_CATALOG),
        "TABLE_UNSUPPORTED",
        "the catalog of the lake manages its tables and does not let others compact or vacuum them",
        "leave both to the catalog: run `gc` on this lake without --compact and --vacuum, and no `maintain`",
    ),
    (
        re.compile("the entry [0-9a-f]{64} of a device log is missing"),
        "ENTRIES_LOST",
        "device logs lack entries that others name: an older version of their table was restored, or rows were deleted",
        "`strandline reduce --full` names the groups: ingest their entries again, or restore the newer version",
    ),
    (
        re.compile(r"Java heap space|GC overhead limit exceeded|OutOfMemoryError", re.IGNORECASE),
        "MEMORY_SHORT",
        "Spark ran out of memory",
        "give it more memory, for example --set spark.driver_memory=4g, and run the command again",
    ),
    (
        re.compile(
            r"SparkContext was shut down|stopped SparkContext|Answer from Java side is empty"
            # Of a call that Java answered, py4j tells a cause after a colon.
            r"|\AError while (?:sending|receiving)|\[CANNOT_OPEN_SOCKET\]|\AAn error occurred while calling [\w.]+\Z"
        ),
        "SPARK_ENDED",
        "Spark's JVM ended during the command",
        "run the command again with more memory, for example --set spark.driver_memory=4g: committed rows stay",
    ),
)
_CONNECTION_LOST = "Answer from Java side is empty"
"""What py4j says if the JVM ended in a call; in others, Python's own error of the connection is all that is said."""
# Spark writes to the lake and to its folder for temporary files.
_WRITE_FAULTS = frozenset({"DISK_FULL", "NOT_WRITABLE"})
_NO_TEMPORARY = "No usable temporary directory"
"""What `tempfile` says if it finds none."""
_PATH = re.compile(r"(?<!/)/*(/[^\s:'\"()]+[^\s:'\"().,;])")
_FILE = re.compile(r"\bfile:/*(/[^\s:'\"()]+[^\s:'\"().,;])")
_ERRNOS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM})
_SPARKS = ("pyspark", "py4j")
_NAMED = (*_SPARKS, "strandline")
_SPARK_PACKAGES = (*_SPARKS, "delta")


def is_from_spark(error: BaseException) -> bool:
    """Return whether Spark or its bridge raised `error`."""
    return type(error).__module__.partition(".")[0] in _SPARKS


def _is_in_spark(error: BaseException) -> bool:
    """Return whether Spark's Python, not Strandline, met `error`: by its frames, since the class is Python's."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        # The last one: a folder of the machine can have the name of a package, too.
        package = next((part for part in reversed(Path(frame.filename).parts) if part in _NAMED), None)
        if package is not None:
            return package in _SPARKS
    return False


def as_fault(error: BaseException, log: Path | None, lake: str | None = None) -> StrandlineError | None:
    """Return `error` as one that a user can act on, or None if it is a bug in Strandline.

    `lake` is named if the error itself names no path.
    """
    if isinstance(error, StrandlineError):
        return error
    if isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] in _SPARK_PACKAGES:
        return FaultError(
            "SPARK_MISSING",
            f"the package {error.name} is not installed: the wheel asks for no Spark, since a cluster has its own",
            "on one machine install it with the wheel: pip install 'WHEEL[spark]'; on a cluster use its interpreter",
        )
    if isinstance(error, MemoryError):
        return FaultError(
            "MEMORY_SHORT", "this machine ran out of memory", "free memory and run the command again"
        )
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
        return UsageError(
            "PATH_TOO_LONG",
            f"the system takes no path of this length: {error.filename}",
            "name a shorter one",
        )
    if isinstance(error, FileNotFoundError) and _NO_TEMPORARY in str(error):
        return FaultError(
            "NOT_WRITABLE",
            f"this machine has no folder for temporary files: {error.strerror}",
            "name one that can be written in the environment variable TMPDIR, and run the command again",
        )
    if isinstance(error, FileNotFoundError) and not _has_working_folder():
        return UsageError(
            "WORKING_FOLDER_GONE",
            "the working folder of this command was removed, so a path such as `lake` names nothing",
            "run the command in another folder",
        )
    if isinstance(error, OSError) and error.errno in _ERRNOS:
        return _environment_fault(f"{error.strerror}: {error.filename or ''}", log, lake)
    if isinstance(error, ConnectionError | EOFError) and _is_in_spark(error):
        return _environment_fault(_CONNECTION_LOST, log, lake)
    if is_from_spark(error) or is_from_delta_rs(error):
        return _environment_fault(str(error), log, lake)
    return None


def _environment_fault(text: str, log: Path | None, lake: str | None) -> FaultError | None:
    for pattern, code, sentence, next_step in _ENVIRONMENT_FAULTS:
        found = pattern.search(text)
        if found is None:
            continue
        place = found.groupdict().get("named") or _place(text, found.start(), found.end())
        if place is None and code in _WRITE_FAULTS:
            places = (lake, _temporary())
            place = " or ".join(f"{each}" for each in places if each)
        named = f"{sentence}: {place}" if place else sentence
        return FaultError(
            code, named, f"{next_step}; Spark's log is {log}" if log and log.exists() else next_step
        )
    return None


def _has_working_folder() -> bool:
    try:
        os.getcwd()
    except FileNotFoundError:
        return False
    return True


def _temporary() -> str | None:
    """Return the folder for temporary files, or None without one."""
    try:
        return tempfile.gettempdir()
    except FileNotFoundError:
        return None


def _place(text: str, start: int, end: int) -> str | None:
    """Return the path on the matched line, else the last path that Spark named before it."""
    line = text[text.rfind("\n", 0, start) + 1 : text.find("\n", end) % (len(text) + 1)]
    on_line = _PATH.search(line)
    if on_line is not None:
        return on_line.group(1)
    before = _FILE.findall(text, 0, start)
    return before[-1] if before else None


def bug_lines(error: BaseException, log: Path | None, version: str) -> list[str]:
    """Return the traceback of a bug, and last the line to report."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "strandline/" in frame.filename] or frames
    place = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else "?"
    lines = "".join(traceback.format_exception(error)).splitlines()
    if log and log.exists():
        lines.append(f"Spark's log is {log}")
    first = (str(error).splitlines() or [""])[0][:200]
    lines.append(
        f"This is a bug in Strandline. Please report this line: "
        f"strandline {version}, {place}, {type(error).__name__}: {first}"
    )
    return [printable(line) for line in lines]
