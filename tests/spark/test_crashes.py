"""A pipeline stopped between any two steps and run again ends with the tables of an undisturbed run."""

import shutil

import pytest

from strandline.pipelines.faults import Faults
from support.lakes import Lake, write_files
from support.random_journals import corpus


class StoppedError(Exception):
    """Stands for a kill: nothing after it runs."""


def stopping(point: str) -> Faults:
    def stop() -> None:
        raise StoppedError(point)

    return Faults(point, fire=stop)


@pytest.fixture(scope="module")
def undisturbed(spark, settings, empty_lakes, tmp_path_factory):
    """Two runs, each reduced, with nothing going wrong; and the lake as it is before the second."""
    root = tmp_path_factory.mktemp("undisturbed")
    first, second = corpus(seed=21, journals=10, runs=2)
    shutil.copytree(empty_lakes[False], root / "lake")
    lake = Lake(spark, settings, root / "lake")
    lake.ingest(write_files(root / "first", first))
    lake.reduce()
    shutil.copytree(root / "lake", root / "before")
    lake.ingest(write_files(root / "second", second))
    lake.reduce()
    return root, lake.tables()


POINTS = ("ingest.records", "ingest.quarantine", "reduce.node_journal", "reduce.before_state")


@pytest.mark.parametrize("point", POINTS)
def test_a_run_stopped_here_and_run_again_ends_as_if_it_had_not_been(
    spark, settings, undisturbed, tmp_path, point
):
    root, expected = undisturbed
    shutil.copytree(root / "before", tmp_path / "lake")
    lake = Lake(spark, settings, tmp_path / "lake")
    stopped = lake.ingest if point.startswith("ingest") else lake.reduce
    if stopped == lake.reduce:
        lake.ingest(root / "second")
    sources = [root / "second"] if stopped == lake.ingest else []
    with pytest.raises(StoppedError, match=point):
        stopped(*sources, faults=stopping(point))
    lake.ingest(root / "second")
    lake.reduce()
    assert lake.tables() == expected
    lake.assert_sound()
