"""Writes rows to a file that appears only when it is complete."""

from __future__ import annotations

from pyspark.sql import DataFrame

from strandline.tables.newfile import NewFile


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
