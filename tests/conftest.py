"""One Spark session for all tests that need one, one empty lake made once and copied."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from support.lakes import Lake, choose

SPARK_TIERS = ("spark", "delta", "jobs")


def pytest_collection_modifyitems(items):
    """Tests without a JVM come first: what they find is told in seconds."""
    items.sort(key=lambda item: any(f"/tests/{tier}/" in str(item.path) for tier in SPARK_TIERS))


@pytest.fixture(scope="session")
def settings():
    from strandline.config import defaults, with_home

    return with_home(defaults(), str(Path.home()))


@pytest.fixture(scope="session")
def spark(settings, tmp_path_factory):
    from strandline.session import open_session

    # Tests run many small plans once: the second compiler and a parallel collector cost more than they give.
    # With the second compiler off Java keeps 48 MB of compiled code, which a session of many tests fills: then it
    # throws code away and compiles it again, all the time.
    os.environ["JDK_JAVA_OPTIONS"] = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=256m"
    session = open_session(settings, environ=os.environ, run_id=f"tests-{os.getpid()}")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def empty_lakes(spark, settings, tmp_path_factory) -> dict[bool, Path]:
    """An empty lake by strictness; a table costs a second to make, a copy nothing."""
    folder = tmp_path_factory.mktemp("empty")
    Lake(spark, settings, folder / "lake").init()
    shutil.copytree(folder / "lake", folder / "strict")
    choose(folder / "strict", "node_journal_line", "strandline.sdmp.reading", "weak", "strict")
    return {False: folder / "lake", True: folder / "strict"}


@pytest.fixture
def new_lake(spark, settings, empty_lakes, tmp_path) -> Callable[..., Lake]:
    """Makes a copy of the empty lake, with other choices where asked; at the end every invariant of each is checked."""
    lakes = []

    def make(
        name: str = "lake", *, strict: bool = False, profile: str = "strict", dialect: str = "sdmp",
        **changed: dict[str, object],
    ) -> Lake:  # fmt: skip
        path = tmp_path / name
        shutil.copytree(empty_lakes[strict], path)
        if profile != "strict":
            choose(path, "ipfs_log_entry", "strandline.ipfslog.profile", "strict", profile)
        lakes.append(Lake(spark, settings, path, changed, dialect=dialect))
        return lakes[-1]

    yield make
    for lake in lakes:
        lake.assert_sound()
