"""Java's archive of the classes that Spark loads (AppCDS): it halves the start time of a session.

The first JVM writes it to the cache at its end. Later JVMs map it, instead of loading and checking some twenty thousand
classes from three hundred jars. Java refuses an archive of another Java or other jars, and a damaged one, and then
loads classes as usual.
"""

import hashlib
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

KEPT: Final = 3
"""Number of archives to keep, the last used ones: each has some 200 MB."""
TRIED_AGAIN_AFTER: Final = 60.0
"""Seconds, so that commands started together do not all write the same archive."""
_MAGIC: Final = (0xF00BABA8).to_bytes(4, "little")
"""First bytes of an archive. Java writes them last, so the leftovers of a killed JVM do not have them."""
_LENIENT: Final = "-XX:+IgnoreUnrecognizedVMOptions"
"""Not every Java supports these archives."""


def archive_options(cache: Path, described: Iterable[str]) -> tuple[str, ...]:
    """Return the options of Java that use the archive in `cache`, or that write it if there is none.

    `described` identifies an installation: which Java, which Spark, where. Writes only a file that marks the attempt;
    removes archives that were not used for long. In a cache that this user cannot write, an archive is only read.
    """
    folder = cache / "classes"
    name = hashlib.sha256("\0".join(described).encode()).hexdigest()[:16]
    archive = folder / f"{name}.jsa"
    if _is_whole(archive):
        with suppress(OSError):
            os.utime(archive)
            _keep_last_used(folder)
        return (_LENIENT, f"-XX:SharedArchiveFile={archive}", "-XX:+VerifySharedSpaces")
    try:
        is_due = _marks_attempt(folder / f"{name}.tried")
    except OSError:
        return ()
    return (_LENIENT, f"-XX:ArchiveClassesAtExit={archive}") if is_due else ()


def _marks_attempt(tried: Path) -> bool:
    """Return False if the last attempt was a moment ago, else mark a new one. Raises: OSError."""
    tried.parent.mkdir(parents=True, exist_ok=True)
    looked = tried.with_name("looked")
    looked.touch()
    if tried.exists() and looked.stat().st_mtime - tried.stat().st_mtime < TRIED_AGAIN_AFTER:
        return False
    tried.touch()
    return True


def _is_whole(archive: Path) -> bool:
    try:
        with archive.open("rb") as opened:
            return opened.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def _keep_last_used(folder: Path) -> None:
    used = sorted(folder.glob("*.jsa"), key=lambda archive: archive.stat().st_mtime, reverse=True)
    for old in used[KEPT:]:
        old.unlink(missing_ok=True)
        old.with_suffix(".tried").unlink(missing_ok=True)
