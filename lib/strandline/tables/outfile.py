"""Rows of text as a file that appears whole: what a peer or an operator carries on."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame

from strandline.core.errors import FaultError


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file that was written: lines, bytes, SHA-256 in hex."""

    path: Path
    lines: int
    bytes: int
    sha256: str


def write_lines(rows: DataFrame, path: Path) -> WrittenFile:
    """Write the column `line` of rows, in their order, each ended by LF; one partition at a time is held here.

    A reader sees the file before, or all of the new one.

    Raises:
        FaultError: OUT_NOT_WRITABLE.
    """
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    digest, lines, size = hashlib.sha256(), 0, 0
    try:
        with unfinished.open("wb") as stream:
            for row in rows.select("line").toLocalIterator():
                raw = row["line"].encode("utf-8") + b"\n"
                stream.write(raw)
                digest.update(raw)
                lines, size = lines + 1, size + len(raw)
        unfinished.replace(path)
    except OSError as error:
        raise FaultError(
            "OUT_NOT_WRITABLE",
            f"The file {path} cannot be written: {error.strerror}.",
            "Name a file in a folder.",
        ) from error
    return WrittenFile(path, lines, size, digest.hexdigest())
