"""The public libraries of logs: what one process of node joins. `make peers` puts them into their folder."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from subprocess import run
from typing import Final

from bench.measure import Run

FOLDER: Final = Path(__file__).with_name("node")
IPFS_LOG, ORBITDB = "ipfs-log", "@orbitdb/core"


def are_installed() -> bool:
    """Return whether the libraries are in their folder."""
    return (FOLDER / "node_modules").is_dir()


def version_of(library: str) -> str:
    """Return a library with the version that is asked for."""
    wanted = json.loads((FOLDER / "package.json").read_text("utf-8"))["dependencies"]
    return f"{library} {wanted[library]}"


def join(library: str, files: Iterable[Path], *, entries: int) -> Run:
    """Return how long a new process of node took to join logs, the entries of one in each file.

    Raises: RuntimeError if the process fails or joined other than `entries` entries.
    """
    command = ("node", str(FOLDER / "join.mjs"), library, *map(str, files))
    done = run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{library} ended with {done.returncode}: {done.stderr[-2000:]}")
    found = json.loads(done.stdout.splitlines()[-1])
    if found["entries"] != entries:
        raise RuntimeError(f"{library} joined {found['entries']} entries, not {entries}")
    return Run(found["seconds"])
