"""`doctor`: checks what Strandline needs on this machine, and gives the next step for every fault."""

import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from strandline.config import Settings
from strandline.core.errors import StrandlineError
from strandline.pipelines.report import Report
from strandline.pipelines.run_context import RunContext
from strandline.session import check_java, is_hosted, log_path
from strandline.session.jars import cached_jars, coordinate
from strandline.tables.location import Location

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PYTHONS = ((3, 11), (3, 13))
_PAIR = {"pyspark": "4.2.0", "delta-spark": "4.4.0"}
_REINSTALL = "install the pair again: pip install pyspark==4.2.0 delta-spark==4.4.0"
_LATER = "repair the faults above first"


Batches = TypeVar("Batches")


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check: what was found, and the next step if it is wrong."""

    name: str
    ok: bool
    found: str
    next_step: str = ""


def run(
    settings: Settings, location: Location, environ: Mapping[str, str], session: Callable[[], "SparkSession"],
    context: RunContext,
) -> Report:  # fmt: skip
    """Return all checks; the outcome is `found` if one failed. `session` starts Spark, if all other checks passed."""
    checks: list[Check] = []
    for stage, look in (
        ("Python", _python),
        ("Java", lambda: _java(environ)),
        ("Spark and Delta", lambda: _pair(environ)),
        ("Delta jar", lambda: _jar(settings, environ)),
        ("Arrow", _arrow),
        ("lake", lambda: _lake(location)),
        ("jar cache", lambda: _writable("jar cache", Path(settings.spark.cache), "--set spark.cache=FOLDER")),
        (
            "state folder",
            lambda: _writable("state folder", Path(settings.spark.state), "--set spark.state=FOLDER"),
        ),
    ):
        context.progress.stage(f"checking {stage}")
        checks.append(look())
    context.progress.stage("starting Spark")
    before = context.elapsed()
    if all(check.ok for check in checks):
        checks.append(_table(settings, session, context))
    else:
        checks.append(Check("Spark session", False, "not tried", _LATER))
    failed = [check.name for check in checks if not check.ok]
    return replace(context, session_seconds=context.elapsed() - before).report(
        location.describe(),
        outcome="found" if failed else "ok",
        members={
            "checks": [
                {"name": check.name, "ok": check.ok, "found": check.found, "mend": check.next_step}
                for check in checks
            ]
        },
    )


def _python() -> Check:
    right = _PYTHONS[0] <= sys.version_info[:2] <= _PYTHONS[1]
    return Check("Python", right, platform.python_version(), "" if right else "use Python 3.11, 3.12 or 3.13")


def _java(environ: Mapping[str, str]) -> Check:
    if is_hosted(environ):
        return Check("Java", True, "the Java of the active session")
    try:
        return Check("Java", True, check_java(environ))
    except StrandlineError as error:
        return Check("Java", False, error.message, error.next)


def _pair(environ: Mapping[str, str]) -> Check:
    if is_hosted(environ):
        # Whether they are new enough is found when the session is opened; no other pair belongs on a cluster.
        return Check("Spark and Delta", True, "those of the active session")
    found = {}
    for package in _PAIR:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    right = found == _PAIR
    return Check(
        "Spark and Delta",
        right,
        ", ".join(f"{name} {at}" for name, at in found.items()),
        "" if right else _REINSTALL,
    )


def _jar(settings: Settings, environ: Mapping[str, str]) -> Check:
    if is_hosted(environ):
        return Check("Delta jar", True, "the Delta of the active session")
    try:
        asked = coordinate()
    except PackageNotFoundError:
        return Check("Delta jar", False, "not tried: the version of pyspark says which", _LATER)
    jars = cached_jars(Path(settings.spark.cache), asked)
    found = f"{asked}, " + (
        f"{len(jars)} files cached" if jars else "not cached yet: the next start downloads it"
    )
    return Check("Delta jar", True, found)


def _arrow() -> Check:
    try:
        import pandas as pd
        import pyarrow as pa
    except ImportError as error:
        return Check(
            "Arrow", False, str(error), "install the lock file again: pip install -r requirements.lock"
        )
    greatest = 2**63 - 1
    exact = pa.Table.from_pandas(pd.DataFrame({"n": [greatest]})).column("n").to_pylist() == [greatest]
    return Check(
        "Arrow", exact, f"pyarrow {pa.__version__}, pandas {pd.__version__}", "" if exact else _REINSTALL
    )


def _lake(location: Location) -> Check:
    if not location.is_local():
        return Check("lake", True, f"{location.describe()}, not a folder of this machine")
    return _writable("lake", location.local_path(), "--lake FOLDER")


def _writable(name: str, folder: Path, option: str) -> Check:
    """Write and remove a file in the nearest existing parent folder. A check creates no folder."""
    there = next(parent for parent in (folder, *folder.parents) if _is_seen(parent))
    next_step = f"give write access to {there}, or name another folder with {option}"
    if not there.is_dir():
        return Check(name, False, f"{there} is a file", next_step)
    try:
        with tempfile.NamedTemporaryFile(dir=there, prefix=".strandline-") as file:
            file.write(b"x")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        return Check(name, False, f"{there}: {error.strerror}", next_step)
    return Check(name, True, f"{folder}, {shutil.disk_usage(there).free // 2**20:,} MiB free")


def _is_seen(path: Path) -> bool:
    """Return whether `path` exists, and no folder above it keeps this user out."""
    try:
        return path.exists()
    except PermissionError:
        return False


def _table(settings: Settings, session: Callable[[], "SparkSession"], context: RunContext) -> Check:
    """Start Spark, write a table and read it through a Python worker."""
    name, log = "Spark session", log_path(settings, context.run_id)
    try:
        spark = session()
    except StrandlineError as error:
        return Check(name, False, error.message, error.next)
    from strandline.tables.spark_errors import spark_errors

    with tempfile.TemporaryDirectory(prefix="strandline-doctor-") as folder:
        try:
            spark.range(3).write.format("delta").save(f"{folder}/table")
            found = (
                spark.read.format("delta")
                .load(f"{folder}/table")
                .mapInArrow(_as_they_are, "id BIGINT")
                .count()
            )
        except spark_errors() as error:
            return Check(name, False, str(error).splitlines()[0], f"read Spark's log {log}")
    if found != 3:
        return Check(name, False, f"a table of 3 rows was read with {found}", f"read Spark's log {log}")
    return Check(name, True, f"Spark {spark.version}, one table written and read")


def _as_they_are(batches: Batches) -> Batches:
    return batches
