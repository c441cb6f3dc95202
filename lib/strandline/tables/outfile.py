"""Rows as a file that appears whole: what a peer or an operator carries on."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import DataFrame

from strandline.tables.newfile import NewFile, WrittenFile


def write_lines(rows: DataFrame, path: Path) -> tuple[WrittenFile, int]:
    """Write the column `line` of rows, in their order, each ended by LF; return the file and its number of lines.

    One partition at a time is held here.

    Raises:
        FaultError: OUT_NOT_WRITABLE.
    """
    lines = 0
    with NewFile(path) as file:
        for row in rows.select("line").toLocalIterator():
            file.write(row["line"].encode("utf-8") + b"\n")
            lines += 1
        return file.appear(), lines


def write_contents(rows: DataFrame, file: NewFile) -> int:
    """Write the column `content` of rows, in their order; return the sum of their column `records`.

    One partition at a time is held here.

    Raises:
        FaultError: OUT_NOT_WRITABLE.
    """
    records = 0
    for row in rows.select("content", "records").toLocalIterator():
        file.write(row["content"])
        records += row["records"]
    return records
