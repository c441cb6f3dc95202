"""An empty lake that is made once and kept on disk: a table costs most of a second to make, a copy nothing."""

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterable
from importlib.metadata import version
from pathlib import Path

from strandline.contracts.ddl import create_table_sql
from strandline.contracts.load import contract, tables
from strandline.dialects import every
from strandline.pipelines.init import InitOptions, design
from support.locks import one_at_a_time
from support.places import BUCKETS

ROOT = Path(__file__).parents[2]
# What writes an empty lake, beside the text of its statements.
WRITERS = (
    "lib/strandline/tables/lake.py", "lib/strandline/tables/creating.py", "lib/strandline/tables/store.py",
    "lib/strandline/tables/merges.py", "lib/strandline/tables/commits.py", "lib/strandline/pipelines/init.py",
    "lib/strandline/pipelines/runs.py", "tests/conftest.py", "tests/support/lakes.py",
)  # fmt: skip
KEPT = 3
"""Empty lakes that stay: one for each branch that is worked on."""


def key() -> str:
    """What an empty lake depends on, as a name: each table's statement, the code that runs it, Spark and Delta."""
    planned = design(InitOptions(buckets=BUCKETS), every())
    statements = (
        create_table_sql(
            contract(table), target="t", buckets=planned.buckets, properties=planned.properties.get(table, {})
        )
        for table in tables()
    )
    return digest([*statements, *map(version, ("pyspark", "delta-spark"))], map(ROOT.joinpath, WRITERS))


def digest(texts: Iterable[str], places: Iterable[Path]) -> str:
    """The hash of texts and of the Python files below places, as a name."""
    found = hashlib.sha256("\0".join(texts).encode())
    for place in places:
        for file in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            found.update(b"\0" + file.name.encode() + b"\0" + file.read_bytes())
    return found.hexdigest()[:16]


def kept(folder: Path, name: str, make: Callable[[Path], None]) -> Path:
    """Return `folder`/`name`; `make` fills it if it is not there. Of several processes one makes it, others wait.

    It appears whole. The folders that were used last stay, others go.
    """
    place = folder / name
    with one_at_a_time(folder / "lock"):
        if not place.exists():
            fresh = Path(tempfile.mkdtemp(prefix=".new-", dir=folder))
            try:
                make(fresh)
                fresh.rename(place)
            finally:
                shutil.rmtree(fresh, ignore_errors=True)
        place.touch()
        found = [each for each in folder.iterdir() if each.is_dir() and not each.name.startswith(".")]
        for old in sorted(found, key=lambda each: each.stat().st_mtime, reverse=True)[KEPT:]:
            shutil.rmtree(old)
    return place
