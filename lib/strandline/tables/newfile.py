"""A file that appears whole or not at all: what a command writes for others to carry on. Spark is not needed."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from strandline.core.errors import FaultError, UsageError
from strandline.core.safe_files import create_file


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file that was written: bytes, SHA-256 in hex."""

    path: Path
    bytes: int
    sha256: str


class NewFile:
    """A file in the making, beside its place and under a name that nobody can foresee, until it appears; a context.

    A link that lies where it appears is replaced, never followed.
    A reader sees what was there before, or all of the new file. Left without `appear`, nothing of it remains.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._digest = hashlib.sha256()
        self._bytes = 0

    def write(self, raw: bytes) -> None:
        """Add bytes at the end. Raises: FaultError OUT_NOT_WRITABLE."""
        try:
            self._stream.write(raw)
        except OSError as error:
            raise _not_writable(self._path, error) from error
        self._digest.update(raw)
        self._bytes += len(raw)

    def written(self) -> WrittenFile:
        """Return what the file is, as far as it is written."""
        return WrittenFile(self._path, self._bytes, self._digest.hexdigest())

    def appear(self) -> WrittenFile:
        """Put the file in its place and return what it is. Raises: FaultError OUT_NOT_WRITABLE."""
        try:
            self._stream.close()
            self._unfinished.replace(self._path)
        except OSError as error:
            raise _not_writable(self._path, error) from error
        return self.written()

    def __enter__(self) -> Self:
        try:
            self._stream, self._unfinished = create_file(self._path.parent)
        except OSError as error:
            raise _not_writable(self._path, error) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.close()
        self._unfinished.unlink(missing_ok=True)


def check_free(path: Path) -> None:
    """See that nothing is at `path`. Raises: UsageError OUT_IS_FOLDER, OUT_EXISTS."""
    if path.is_dir():
        raise UsageError(
            "OUT_IS_FOLDER", f"{path} is a folder, and all goes to one file", "name a file with --out"
        )
    if os.path.lexists(path):
        raise UsageError(
            "OUT_EXISTS", f"there is a file {path}", "name a new file with --out, or move that one away"
        )


def _not_writable(path: Path, error: OSError) -> FaultError:
    return FaultError(
        "OUT_NOT_WRITABLE",
        f"The file {path} cannot be written: {error.strerror}.",
        "Name a file in a folder.",
    )
