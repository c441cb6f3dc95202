"""Jars that only tests need: fetched once into the cache, each by its hash."""

import hashlib
import os
import time
import urllib.request
from pathlib import Path
from typing import Final

MAVEN: Final = "https://repo1.maven.org/maven2"
SECONDS: Final = 60
TRIES: Final = 4
_BLOCK: Final = 1 << 20


def fetched_jars(lock: Path, folder: Path) -> tuple[Path, ...]:
    """Return the jars of a lock in `folder`; those that lack are fetched, and refused if their bytes are others.

    A line of the lock is a SHA-256 and a path in the repository, as `sha256sum` writes them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    for line in lock.read_text(encoding="utf-8").splitlines():
        expected, path = line.split()
        jar = folder / path.rpartition("/")[2]
        if not jar.exists():
            _fetch(path, expected, jar, lock.name)
        found.append(jar)
    return tuple(found)


def _fetch(path: str, expected: str, jar: Path, lock: str) -> None:
    mirror = os.environ.get("DEFAULT_ARTIFACT_REPOSITORY") or MAVEN
    fresh = jar.with_name(f".{jar.name}-{os.getpid()}")
    for left in reversed(range(TRIES)):
        try:
            actual = _download(f"{mirror.rstrip('/')}/{path}", fresh)
            break
        except OSError:
            if not left:
                raise
            time.sleep(5)
    assert actual == expected, f"{path} has the SHA-256 {actual}, {lock} says {expected}"
    fresh.rename(jar)


def _download(source: str, target: Path) -> str:
    digest = hashlib.sha256()
    with urllib.request.urlopen(source, timeout=SECONDS) as answer, target.open("wb") as out:
        while block := answer.read(_BLOCK):
            digest.update(block)
            out.write(block)
    return digest.hexdigest()
