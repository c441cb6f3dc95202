"""One Spark session a process for all tests that need one, one empty lake made once, kept and copied."""

import gc
import os
import shutil
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from support import empty_lakes as empty
from support.lakes import Lake, choose, choose_buckets
from support.locks import one_at_a_time
from support.places import BUCKETS
from support.tiers import is_spark

pytest_plugins = ("support.complete_runs",)
LONGEST = (
    "conformance", "gc", "metastore", "readme", "contexts", "ipfslog_reduction", "flows", "notebooks",
    "reduction", "gc_authorities", "forged_lakes", "stream", "ipfslog_pruned", "schema", "devicelog_admission",
    "aura_lake", "own_journals", "jobs", "faults", "topics", "object_store", "maintain", "pruned_sync",
    "bundle", "ipfslog_admission", "kills", "effects", "wheel", "small_tables", "toy_dialect", "small_work",
    "lake_sync", "writers", "tampering", "readers", "sdmp_copies", "ipfslog_scale", "chunks", "query_check",
    "aura_admission", "bad_input", "damaged_streams", "manifests", "export", "views", "aura_scale",
)  # fmt: skip
"""Files of tests that take more than half a minute, the longest first, by their names without `test_`."""


def pytest_collection_modifyitems(items):
    """Tests without a JVM come first: what they find is told in seconds. Then the longest files.

    Two processes share the files out in this order, and each has a session of its own: a long file at the end would
    leave the other without work.
    """
    longest = {f"test_{name}": number for number, name in enumerate(LONGEST, 1)}
    items.sort(key=lambda item: longest.get(item.path.stem, len(LONGEST) + 1) if is_spark(item.nodeid) else 0)


def pytest_sessionstart():
    """No collector of garbage looks through modules and thousands of tests, which are there until the end."""
    gc.disable()


def pytest_collection_finish():
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def settings():
    from strandline.config import defaults, with_home

    usual = with_home(defaults(), str(Path.home()))
    # What is shuffled here is small: a task more costs more than it takes over.
    few = usual.spark.model_copy(update={"shuffle_partitions": 2, "master": "local[2]"})
    return usual.model_copy(update={"spark": few})


@pytest.fixture(scope="session")
def spark(settings):
    from strandline.session import open_session
    from strandline.session.jars import cached_jars, kafka_coordinate
    from strandline.tables.work_settings import SMALL_WORK

    # A parallel collector costs more than it gives here. A session of many tests fills the room that Java keeps for
    # compiled code: then it throws code away and compiles it again, all the time. Of the room for classes it looks
    # through the whole heap each time that it grows; so it does before the part for old objects grows, which would
    # begin with 6 MB. The best compiler waits four times as long for code to be hot: most code of a test session never
    # is.
    os.environ["JDK_JAVA_OPTIONS"] = (
        "-XX:+UseSerialGC -Xmn900m -XX:InitialRAMPercentage=25 -XX:ReservedCodeCacheSize=384m -XX:MetaspaceSize=256m"
        " -XX:Tier4InvocationThreshold=20000 -XX:Tier4MinInvocationThreshold=2400 -XX:Tier4CompileThreshold=60000"
        " -XX:Tier4BackEdgeThreshold=160000"
    )
    cache = Path(settings.spark.cache)
    kept = cached_jars(cache) and cached_jars(cache, kafka_coordinate())
    # The first session of all fetches the jars, and two must not at once.
    with nullcontext() if kept else one_at_a_time(cache / "tests.lock"):
        session = open_session(settings, environ=os.environ, run_id=f"tests-{os.getpid()}", with_kafka=True)
    # Queries of tests read few rows. Commands take these settings away for large work.
    for name, value in SMALL_WORK.items():
        session.conf.set(name, value)
    # The logs of tables are short here: a second task for each query of one has nothing to do.
    session.conf.set("spark.databricks.delta.snapshotPartitions", "1")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def jars(request, settings) -> tuple[Path, ...]:
    """The jars of Delta in the cache; the first session of all puts them there."""
    from strandline.session.jars import cached_jars

    cache = Path(settings.spark.cache)
    if not cached_jars(cache):
        request.getfixturevalue("spark")
    return cached_jars(cache)


@pytest.fixture(scope="session")
def packaged(tmp_path_factory, worker_id) -> Path:
    """A folder of this run of the tests, for all its processes."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "packaged"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def wheel(packaged) -> Path:
    """The wheel, built once."""
    from support.packaged import build_wheel

    with one_at_a_time(packaged / "wheel.lock"):
        [*built] = packaged.glob("*.whl")
        return built[0] if built else build_wheel(packaged)


@pytest.fixture(scope="session")
def program(wheel, jars, settings, packaged, tmp_path_factory):
    """A program that was installed from the wheel, once."""
    from support.packaged import Program, install, make_python

    folder = packaged / "python"
    with one_at_a_time(packaged / "python.lock"):
        if not (folder / "bin" / "strandline").exists():
            install(make_python(folder), wheel)
    return Program(folder / "bin" / "python", Path(settings.spark.cache), tmp_path_factory.mktemp("state"))


@pytest.fixture(scope="session")
def remote(spark) -> str:
    """Where clients of Spark Connect find the JVM of the tests."""
    from support.connect_server import serve

    return serve(spark)


@pytest.fixture(scope="session")
def empty_lakes(request, spark, settings) -> dict[bool, Path]:
    """An empty lake by strictness, kept from one run of the tests to the next."""

    def make(folder: Path) -> None:
        Lake(spark, settings, folder / "lake").init(buckets=BUCKETS)
        shutil.copytree(folder / "lake", folder / "strict")
        choose(folder / "strict", "node_journal_line", "strandline.sdmp.reading", "weak", "strict")

    folder = empty.kept(request.config.cache.mkdir("empty-lakes"), empty.key(), make)
    return {False: folder / "lake", True: folder / "strict"}


@pytest.fixture
def new_lake(spark, settings, empty_lakes, tmp_path) -> Callable[..., Lake]:
    """Makes a copy of the empty lake, with other choices where asked, or of the lake `like`.

    At the end every invariant of each is checked.
    """
    lakes = []

    def make(
        name: str = "lake", *, strict: bool = False, profile: str = "strict", buckets: int = BUCKETS,
        dialect: str = "sdmp", like: Path | None = None, **changed: dict[str, object],
    ) -> Lake:  # fmt: skip
        path = tmp_path / name
        shutil.copytree(like or empty_lakes[strict], path)
        if profile != "strict":
            choose(path, "ipfs_log_entry", "strandline.ipfslog.profile", "strict", profile)
        if buckets != BUCKETS:
            choose_buckets(path, buckets)
        lakes.append(Lake(spark, settings, path, changed, dialect=dialect))
        return lakes[-1]

    yield make
    for lake in lakes:
        lake.assert_sound()
