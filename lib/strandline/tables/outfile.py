"""Writes rows to a file that appears only when it is complete."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

from pyspark.sql import DataFrame

from strandline.core.errors import UsageError
from strandline.core.safe_files import open_file
from strandline.kernels.manifests import MAX_MANIFEST_BYTES, StatedNamespace
from strandline.tables.new_manifests import check_new, manifest_path, write_manifest_of
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
    file gets the path in between, its manifest stays, or comes back if this one replaced it.

    Raises:
        UsageError: OUT_EXISTS, OUT_IS_FOLDER, OUT_NAME, MANIFEST_REFUSED.
        FaultError: OUT_NOT_WRITABLE.
    """
    path = file.written().path
    check_new(path)
    before = _content(manifest_path(path.parent, path.name))
    manifest = write_manifest_of(file.written(), dialect=dialect, records=records, namespaces=namespaces)
    ours = _content(manifest)
    reach()
    try:
        return file.publish(new=True), manifest
    except UsageError:
        _leave_manifest_of(path, manifest, before, ours)
        raise


def _leave_manifest_of(path: Path, manifest: Path, before: bytes, ours: bytes) -> None:
    """Leave the manifest of the file that is at `path` now, the one there or the one `before`; else remove ours."""
    there = _digest(path)
    now = _content(manifest)
    if there in now:
        return
    if there in before:
        with NewFile(manifest) as file:
            file.write(before)
            file.publish()
    elif now == ours:
        manifest.unlink(missing_ok=True)


def _content(manifest: Path) -> bytes:
    """Return the bytes of a manifest, none if there is none to read."""
    try:
        with open_file(manifest, follow=False) as stream:
            return stream.read(MAX_MANIFEST_BYTES)
    except OSError:
        return b""


def _digest(path: Path) -> bytes:
    """Return the SHA-256 of a file as manifests state it; a word that is in none if it cannot be read."""
    try:
        with open_file(path) as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest().encode("ascii")
    except OSError:
        return b"unknown digest"
