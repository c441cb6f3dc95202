"""`gc --archive`: writes the exact files of journals to a folder. Deletes nothing."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Collection, Iterable, Mapping
from itertools import groupby
from pathlib import Path
from typing import Final

from strandline.core.errors import FaultError, UsageError
from strandline.core.safe_files import append_to, open_file, why_unreadable
from strandline.dialect_api.archive import ArchivedJournal, Archives
from strandline.dialect_api.dialect import Dialect
from strandline.pipelines.run_context import RunContext
from strandline.pipelines.spark_jobs import SparkJobs
from strandline.tables.as_of import TablesAsOf
from strandline.tables.newfile import NewFile, WrittenFile
from strandline.tables.store import TableStore

MANIFEST: Final = "_manifest.jsonl"
"""A hidden name: `ingest` of the folder reads the journals alone."""


def check_folder(folder: Path) -> None:
    """Check that nothing else has the name of the folder. Raises: UsageError ARCHIVE_NOT_A_FOLDER."""
    if os.path.lexists(folder) and not folder.is_dir():
        raise UsageError(
            "ARCHIVE_NOT_A_FOLDER", f"{folder} is there, and is no folder.", "Name a folder with --archive."
        )


def check_dialects(dialects: Iterable[Dialect], chosen: Collection[str]) -> None:
    """Check that one of the chosen dialects has journals to archive; none: all. Raises: UsageError DIALECTS_DIFFER."""
    names = [each.info.name for each in dialects if isinstance(each, Archives)]
    if chosen and not set(chosen) & set(names):
        raise UsageError(
            "DIALECTS_DIFFER",
            f"--archive writes the journals of {' and '.join(names)}, and --dialect leaves them out.",
            f"Add --dialect {names[0]}, or leave out --archive.",
        )


def archive(
    store: TableStore, dialects: Iterable[Dialect], chosen: Mapping[str, tuple[str, ...]], folder: Path,
    context: RunContext, jobs: SparkJobs,
) -> tuple[int, int]:  # fmt: skip
    """Write each journal of the chosen namespaces, or of all; return how many were written, and how many fork.

    A file appears when it is complete, and takes the place of an earlier one. It is read back: its bytes and its chain
    must be right. Then a line is added to MANIFEST: {namespace, lines, bytes, sha256, tip}.
    Raises: FaultError OUT_NOT_WRITABLE, ARCHIVE_DAMAGED.
    """
    written = forked = 0
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _not_writable(folder, error) from error
    for dialect in dialects:
        table = dialect.info.record_table
        names = chosen.get(dialect.info.name)
        if not isinstance(dialect, Archives) or not store.stored_bytes(table) or (chosen and names is None):
            continue
        context.progress.stage(f"archiving {table}")
        tables = TablesAsOf(store, {table: store.version(table)})
        found = dialect.archive(tables, jobs, names)
        forked += found.forked
        rows = found.pieces.toLocalIterator()
        for namespace, pieces in groupby(rows, key=lambda row: str(row["namespace"])):
            lines = 0
            with NewFile(folder / dialect.archive_name(namespace)) as file:
                for piece in pieces:
                    file.write(bytes(piece["content"]))
                    lines += piece["records"]
                made = file.publish()
            _add_line(folder, namespace, made, _verified(dialect, namespace, made, lines))
            written += 1
    return written, forked


def _verified(dialect: Archives, namespace: str, made: WrittenFile, lines: int) -> ArchivedJournal:
    """Read a file back, its chain and its bytes."""
    try:
        with open_file(made.path, follow=False) as file:
            held = dialect.verify_archived(namespace, file)
            file.seek(0)
            digest = hashlib.file_digest(file, "sha256")
    except OSError as error:
        raise _damaged(made.path, why_unreadable(error)) from error
    if held is None or held.lines != lines or digest.hexdigest() != made.sha256:
        raise _damaged(made.path, "it is not the journal that was written")
    return held


def _add_line(folder: Path, namespace: str, made: WrittenFile, held: ArchivedJournal) -> None:
    """Add the line of a journal to the manifest."""
    line = {
        "namespace": namespace, "lines": held.lines, "bytes": made.bytes, "sha256": made.sha256, "tip": held.tip,
    }  # fmt: skip
    try:
        append_to(folder / MANIFEST, json.dumps(line).encode("ascii") + b"\n")
    except OSError as error:
        raise _not_writable(folder / MANIFEST, error) from error


def _not_writable(path: Path, error: OSError) -> FaultError:
    return FaultError(
        "OUT_NOT_WRITABLE",
        f"{path} cannot be written: {error.strerror}.",
        "Name a folder that you can write.",
    )


def _damaged(path: Path, why: str) -> FaultError:
    return FaultError(
        "ARCHIVE_DAMAGED",
        f"The archived file {path} was read back, and {why}.",
        "Look at the disk, then run the command again.",
    )
