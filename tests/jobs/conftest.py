"""A lake to which nothing bad happened."""

import os
import pickle
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from strandline.pipelines.report import Report
from support.lakes import Lake, write_files
from support.locks import one_at_a_time
from support.random_journals import corpus


@dataclass(frozen=True)
class Undisturbed:
    """Two runs, each reduced, in the lake `root`/lake: its tables and what each command told.

    Their input is `root`/first and `root`/second. `root`/ingest is the lake as it is before the second run,
    `root`/reduce before its reduction.
    """

    root: Path
    tables: dict[str, list[tuple]]
    reports: tuple[Report, ...]


@pytest.fixture(scope="session")
def undisturbed(spark, settings, empty_lakes, tmp_path_factory) -> Undisturbed:
    """Made once: of the processes that share the tests out, the first makes it and the others wait for it."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    kept = shared / "undisturbed.pickle"
    with one_at_a_time(shared / "undisturbed.lock"):
        if not kept.exists():
            kept.write_bytes(
                pickle.dumps(_undisturbed(spark, settings, empty_lakes[False], shared / "undisturbed"))
            )
        return pickle.loads(kept.read_bytes())


def _undisturbed(spark, settings, empty: Path, root: Path) -> Undisturbed:
    # With forks, and with waiting lines that the second run lets in.
    first, second = corpus(seed=57, journals=10, runs=2)
    shutil.copytree(empty, root / "lake")
    lake = Lake(spark, settings, root / "lake")
    reports = [lake.ingest(write_files(root / "first", first)), lake.reduce()]
    shutil.copytree(root / "lake", root / "ingest")
    reports.append(lake.ingest(write_files(root / "second", second)))
    shutil.copytree(root / "lake", root / "reduce")
    reports.append(lake.reduce())
    return Undisturbed(root, lake.tables(), tuple(reports))
