"""Ships Strandline's wheel to the executors if spark-submit made it importable only on the driver."""

import shutil
import tempfile
from pathlib import Path
from types import ModuleType
from zipimport import zipimporter

from pyspark import SparkContext

from strandline.session.private import make_private

# Suffixes of files that Spark puts on the path of Python workers (SparkContext.PACKAGE_EXTENSIONS).
_PUT_ON_THE_PATH = (".zip", ".egg", ".jar")


def archive_of(module: ModuleType) -> Path | None:
    """Return the archive that `module` was imported from, or None if it is in a folder."""
    loader = getattr(module.__spec__, "loader", None)
    return Path(loader.archive) if isinstance(loader, zipimporter) else None


def ship_package(context: SparkContext, package: ModuleType) -> None:
    """Make `package` importable in Python workers if it is in an archive that Spark does not put on their path.

    `spark-submit --py-files X.whl` copies the wheel to every executor and puts it on the driver's path, but workers get
    only files with the suffix .zip, .egg or .jar (pyspark 4.2.0). So the same bytes are added again as a .zip.
    """
    archive = archive_of(package)
    if archive is None or archive.suffix.lower() in _PUT_ON_THE_PATH:
        return
    name = f"{archive.stem}.zip"
    if any(added.rpartition("/")[2] == name for added in context.listFiles):
        return
    # Executors fetch it from the driver when their first task starts, so it stays until this process ends.
    folder = make_private(Path(tempfile.gettempdir())).path
    context.addPyFile(str(shutil.copyfile(archive, folder / name)))
