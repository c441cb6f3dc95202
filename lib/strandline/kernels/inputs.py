"""Input of either kind, a file or an object of a store, opened by its path."""

from __future__ import annotations

import os
from typing import BinaryIO

from strandline.core.safe_files import open_file, unguarded
from strandline.kernels.objects import is_object, look_up, open_object


def open_input(path: bytes) -> BinaryIO:
    """Open an object, or a file by a path of `core.safe_files`. Raises: OSError."""
    return open_object(path) if is_object(path) else open_file(path)


def shown_path(path: bytes) -> bytes:
    """Return a path of `open_input` in the usual form, for messages."""
    return path if is_object(path) else unguarded(path)


def real_path(path: bytes) -> bytes:
    """Return a path without links: equal ones are one file. An object has one path."""
    return path if is_object(path) else os.path.realpath(path)


def exists(path: bytes) -> bool:
    """Return whether there is something at a path. Raises: OSError (a store that does not answer)."""
    return look_up(path)[0] is not None if is_object(path) else os.path.lexists(path)
