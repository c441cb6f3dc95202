"""Writes a file that appears only when it is complete. Needs no Spark."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from strandline.core.errors import FaultError, UsageError
from strandline.core.safe_files import check_replaceable, create_file


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file that was written: bytes, SHA-256 in hex."""

    path: Path
    bytes: int
    sha256: str


class NewFile:
    """A file that is written in its folder under a random name and moved to `path` by `publish`; a context manager.

    A link at `path` is replaced, never followed; a folder, pipe or device stays. A reader sees the old file or the
    complete new one. Without `publish` the new file is deleted at the end of the block.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._digest = hashlib.sha256()
        self._bytes = 0

    def write(self, raw: bytes) -> None:
        """Append bytes. Raises: FaultError OUT_NOT_WRITABLE."""
        try:
            self._stream.write(raw)
        except OSError as error:
            raise _not_writable(self._path, error) from error
        self._digest.update(raw)
        self._bytes += len(raw)

    def written(self) -> WrittenFile:
        """Return path, size and digest of what is written so far."""
        return WrittenFile(self._path, self._bytes, self._digest.hexdigest())

    def publish(self, *, new: bool = False) -> WrittenFile:
        """Move the file to its path. Return path, size and digest.

        With `new` nothing is replaced, also what appeared since the file was opened; a file system without hard links
        leaves a moment between the check and the move.
        Raises: FaultError OUT_NOT_WRITABLE; with `new` UsageError OUT_IS_FOLDER, OUT_EXISTS.
        """
        try:
            self._stream.close()
            if not (new and self._linked()):
                self._unfinished.replace(self._path)
        except OSError as error:
            raise _not_writable(self._path, error) from error
        return self.written()

    def _linked(self) -> bool:
        """Return whether the finished file has got its path as a second name. Raises: UsageError as `check_free`."""
        try:
            os.link(self._unfinished, self._path)
        except OSError:
            check_free(self._path)
            return False
        return True

    def __enter__(self) -> Self:
        try:
            check_replaceable(self._path)
            self._stream, self._unfinished = create_file(self._path.parent)
        except OSError as error:
            raise _not_writable(self._path, error) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            # After a failed write the rest is tried again: on a full disk this fails, too.
            with suppress(OSError):
                self._stream.close()
        finally:
            self._unfinished.unlink(missing_ok=True)


def check_place(path: Path) -> None:
    """Check that a file can be written at `path`, also where there is one.

    Raises: UsageError OUT_IS_FOLDER; FaultError OUT_NOT_WRITABLE.
    """
    check_no_folder(path)
    with NewFile(path):
        pass


def check_free(path: Path) -> None:
    """Check that `path` does not exist. Raises: UsageError OUT_IS_FOLDER, OUT_EXISTS."""
    check_no_folder(path)
    if os.path.lexists(path):
        raise UsageError(
            "OUT_EXISTS", f"the file {path} exists", "name a new file with --out, or move the old one"
        )


def check_no_folder(path: Path) -> None:
    """Check that `path` is no folder. Raises: UsageError OUT_IS_FOLDER."""
    if path.is_dir():
        raise UsageError(
            "OUT_IS_FOLDER", f"{path} is a folder, but the output is one file", "name a file with --out"
        )


def _not_writable(path: Path, error: OSError) -> FaultError:
    return FaultError(
        "OUT_NOT_WRITABLE",
        f"The file {path} cannot be written: {error.strerror}.",
        "Name a file in a folder that you can write.",
    )
