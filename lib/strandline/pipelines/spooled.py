"""Rows of a report that do not fit into memory: sorted runs in temporary files, merged on reading."""

from __future__ import annotations

import heapq
import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from typing import IO, Any, Final

_BETWEEN: Final = "\t"
_ENCODER: Final = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":"))


class SpooledRows:
    """Rows as JSON objects, ordered by their keys, in temporary files without a name.

    Each part must be sorted. One reader at a time can read the rows, repeatedly.
    """

    def __init__(self) -> None:
        self._parts: list[IO[str]] = []
        self._count = 0

    def add_part(self, rows: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
        """Add rows with their keys; keys ascend and contain neither a tab nor a line end."""
        part = tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n")  # noqa: SIM115 - open until the report is printed
        self._parts.append(part)
        for key, row in rows:
            part.write(f"{key}{_BETWEEN}{_ENCODER.encode(row)}\n")
            self._count += 1

    def json_texts(self) -> Iterator[str]:
        """Yield each row as JSON text, in order."""
        for part in self._parts:
            part.seek(0)
        for line in heapq.merge(*self._parts):
            yield line[line.index(_BETWEEN) + 1 : -1]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield each row, in order."""
        return (json.loads(text) for text in self.json_texts())

    def __len__(self) -> int:
        """Return the number of rows."""
        return self._count
