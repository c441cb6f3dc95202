"""Java's archive of the classes that Spark loads (AppCDS): with it a session starts in half the time.

The first JVM writes it as it ends, beside the jars in the cache; all later ones map it instead of loading some twenty
thousand classes out of three hundred jars and checking each. Java itself refuses an archive of another Java, of other
jars or with damaged contents, and then loads as before.
"""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

KEPT: Final = 3
"""Archives of so many installations stay, the last used ones: each has some 200 MB."""
TRIED_AGAIN_AFTER: Final = 60.0
"""Seconds. Commands started together do not all write the same archive."""
_MAGIC: Final = (0xF00BABA8).to_bytes(4, "little")
"""How an archive begins. Java writes the beginning last: what a killed JVM left behind does not have it."""
_LENIENT: Final = "-XX:+IgnoreUnrecognizedVMOptions"
"""Not every Java has archives of this kind."""


def archive_options(cache: Path, described: Iterable[str]) -> tuple[str, ...]:
    """Return the options of Java that use the archive in `cache`, or that write it where there is none.

    `described` tells one installation from others: which Java, which Spark, where. Nothing is written but a mark that
    somebody writes the archive, and archives not used for long are removed.
    """
    folder = cache / "classes"
    folder.mkdir(parents=True, exist_ok=True)
    name = hashlib.sha256("\0".join(described).encode()).hexdigest()[:16]
    archive = folder / f"{name}.jsa"
    if _is_whole(archive):
        os.utime(archive)
        _keep_last_used(folder)
        return (_LENIENT, f"-XX:SharedArchiveFile={archive}", "-XX:+VerifySharedSpaces")
    tried, looked = folder / f"{name}.tried", folder / "looked"
    looked.touch()
    if tried.exists() and looked.stat().st_mtime - tried.stat().st_mtime < TRIED_AGAIN_AFTER:
        return ()
    tried.touch()
    return (_LENIENT, f"-XX:ArchiveClassesAtExit={archive}")


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
