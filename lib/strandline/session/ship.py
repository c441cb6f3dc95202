"""Brings Strandline's wheel to the executors, where spark-submit brought it to the driver alone."""

import shutil
import tempfile
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING
from zipimport import zipimporter

import strandline
from strandline.session.private import make_private

if TYPE_CHECKING:
    from pyspark import SparkContext

# Ends of names that Spark puts on the path of Python workers (SparkContext.PACKAGE_EXTENSIONS).
_PUT_ON_THE_PATH = (".zip", ".egg", ".jar")


def archive_of(module: ModuleType) -> Path | None:
    """Return the archive that `module` was imported from, or None if it lies in a folder."""
    loader = getattr(module.__spec__, "loader", None)
    return Path(loader.archive) if isinstance(loader, zipimporter) else None


def ship_package(context: "SparkContext", package: ModuleType = strandline) -> None:
    """Let Python workers import `package` too if it came in an archive whose name Spark leaves off their path.

    `spark-submit --py-files X.whl` copies the wheel to every executor and puts it on the driver's path, but on that of
    the workers only what is called .zip, .egg or .jar (pyspark 4.2.0); so the same bytes go there again as a .zip.
    """
    archive = archive_of(package)
    if archive is None or archive.suffix.lower() in _PUT_ON_THE_PATH:
        return
    name = f"{archive.stem}.zip"
    if any(added.rpartition("/")[2] == name for added in context.listFiles):
        return
    # Executors fetch it from the driver when their first task begins, so it stays as long as this process does.
    folder = make_private(Path(tempfile.gettempdir())).path
    context.addPyFile(str(shutil.copyfile(archive, folder / name)))
