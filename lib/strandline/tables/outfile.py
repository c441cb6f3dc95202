"""Writes rows to a file that appears only when it is complete."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from pyspark.sql import DataFrame

from strandline.core.errors import UsageError
from strandline.kernels.manifests import StatedNamespace
from strandline.tables.manifests import check_new, write_manifest_of
from strandline.tables.newfile import NewFile, WrittenFile


def write_lines(rows: DataFrame, file: NewFile) -> int:
    """Write the column `line` of rows, in their order, each ended by LF; return the number of lines.

    The driver holds one partition at a time.

    Raises:
        FaultError: OUT_NOT_WRITABLE.
    """
    lines = 0
    for row in rows.select("line").toLocalIterator():
        file.write(row["line"].encode("utf-8") + b"\n")
        lines += 1
    return lines


def write_contents(rows: DataFrame, file: NewFile, separator: bytes) -> int:
    """Write the column `content` of rows, in their order, with `separator` between; return the sum of `records`.

    The driver holds one partition at a time.

    Raises:
        FaultError: OUT_NOT_WRITABLE.
    """
    records = 0
    for row in rows.select("content", "records").toLocalIterator():
        if records:
            file.write(separator)
        file.write(row["content"])
        records += row["records"]
    return records


def publish_with_manifest(
    file: NewFile, reach: Callable[[], None], *, dialect: str, records: int,
    namespaces: Sequence[StatedNamespace] = (),
) -> tuple[WrittenFile, Path]:  # fmt: skip
    """Write the manifest of a file, then move the file to its path; return both. `reach` is called in between.

    Nothing is replaced but a manifest of this file alone, also of what appeared while the file was written. If another
    file gets the path in between, the manifest goes: it is not that of the other file.

    Raises:
        UsageError: OUT_EXISTS, OUT_IS_FOLDER, OUT_NAME, MANIFEST_REFUSED.
        FaultError: OUT_NOT_WRITABLE.
    """
    check_new(file.written().path)
    manifest = write_manifest_of(file.written(), dialect=dialect, records=records, namespaces=namespaces)
    reach()
    try:
        return file.publish(new=True), manifest
    except UsageError:
        manifest.unlink(missing_ok=True)
        raise
