"""Lints over the whole package, each of them seen to notice what it forbids."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from support import lints

ROOT = Path(__file__).parents[2]
LIB = ROOT / "lib" / "strandline"
MODULES = sorted([*LIB.rglob("*.py"), *(ROOT / "jobs").rglob("*.py")])
MAX_LINES, USUAL_LINES = 300, 220
# The only place that starts a process: it asks the java that the operator installed for its version.
STARTS_PROCESSES = frozenset({LIB / "session" / "java.py"})


# Those that open files which no other user can put into its place: of the package, the cache, a folder of its own.
OPENS_OWN_FILES = {
    "lib/strandline/core/safe_files.py": "opens all others",
    "lib/strandline/config/documents.py": "settings of the package",
    "lib/strandline/contracts/reasons.py": "reasons of registered dialects",
    "lib/strandline/contracts/resources.py": "contracts of the package",
    "lib/strandline/cli/streams.py": "the null device",
    "lib/strandline/pipelines/demo/folder.py": "a folder that was just made",
    "lib/strandline/session/classes.py": "the cache",
    "lib/strandline/session/jars.py": "the cache",
    "lib/strandline/session/java.py": "the Java that runs",
    "lib/strandline/session/local.py": "the private folder and the log",
    "lib/strandline/session/private.py": "private folders",
    "lib/strandline/session/classic/shipping.py": "a private folder",
    "lib/strandline/session/package_archive.py": "files of the package",
    "lib/strandline/tables/blockstores.py": "the copy of a LevelDB",
}
# The process that asks a store for an object is a worker, too, and the credentials are in its environment alone.
READS_ITS_ENVIRONMENT = "lib/strandline/kernels/objects.py"


def found(lint: Callable[[Path], object], modules: Iterable[Path] = MODULES) -> dict[str, object]:
    """What a lint has to say, by module."""
    told = {str(path.relative_to(ROOT)): lint(path) for path in modules}
    assert told
    return {name: each for name, each in told.items() if each}


@pytest.mark.large
def test_no_sql_is_put_together_where_it_is_run() -> None:
    assert found(lambda path: lints.sql_put_together(path.read_text())) == {}


@pytest.mark.large
def test_no_data_becomes_code_or_a_process() -> None:
    def dangerous(path: Path) -> object:
        return lints.dangerous(path.read_text(), may_start_processes=path in STARTS_PROCESSES)

    assert found(dangerous) == {}


SIZE_OR_DEFAULT = re.compile(r"coalesce\((?:F\.)?size\([^()]*\),")


@pytest.mark.large
def test_no_default_stands_for_the_size_of_a_null_which_is_not_null_without_ansi() -> None:
    queries = sorted((ROOT / "schemas").rglob("*.*"))
    assert found(lambda path: SIZE_OR_DEFAULT.findall(path.read_text()), [*MODULES, *queries]) == {}
    assert SIZE_OR_DEFAULT.search('F.coalesce(F.size("entries"), F.lit(0))')
    assert SIZE_OR_DEFAULT.search("coalesce(size(c.counts), 0)")


COLUMN_BY_NUMBER = re.compile(r"\b(?:GROUP|ORDER) BY (?:\w+, )*\d")


@pytest.mark.large
def test_no_query_names_a_column_by_its_number_which_a_session_can_switch_off() -> None:
    queries = sorted((ROOT / "schemas").rglob("*.*"))
    assert found(lambda path: COLUMN_BY_NUMBER.findall(path.read_text()), [*MODULES, *queries]) == {}
    assert COLUMN_BY_NUMBER.search("GROUP BY namespace, 2")


SIZE_MULTIPLIED = re.compile(r"\*\s*(?:F\.)?size\(|\bsize\([^()]*\)(?:\.cast\([^()]*\))?\s*\*")


@pytest.mark.large
def test_no_size_that_can_be_that_of_a_null_is_multiplied_and_summed() -> None:
    queries = sorted((ROOT / "schemas").rglob("*.*"))
    assert found(lambda path: SIZE_MULTIPLIED.findall(path.read_text()), [*MODULES, *queries]) == {}
    assert SIZE_MULTIPLIED.search("f'{_ITEM_BYTES} * size(next)'")
    assert SIZE_MULTIPLIED.search('F.size("write").cast("bigint") * 8')
    assert not SIZE_MULTIPLIED.search('F.array_size("write").cast("bigint") * 8 + 2 * array_size(members)')


@pytest.mark.large
def test_below_the_command_line_nothing_reads_the_clock_or_the_environment() -> None:
    below = (path for path in MODULES if LIB / "cli" not in path.parents)
    read = found(lambda path: lints.reads_surroundings(path.read_text()), below)
    [[_, what]] = [each.split(": ") for each in read.pop(READS_ITS_ENVIRONMENT)]
    assert (what, read) == ("os.environ", {})


@pytest.mark.large
def test_frames_start_no_action() -> None:
    frames = (path for path in MODULES if "frames" in path.parts or path.name == "frames.py")
    assert found(lambda path: lints.actions(path.read_text()), frames) == {}


@pytest.mark.large
def test_a_dialect_starts_actions_and_reads_tables_through_its_ports_alone() -> None:
    of_dialects = [path for path in MODULES if "dialects" in path.parts and "spark" in path.parts]
    of_dialects += (LIB / "dialect_api").rglob("*.py")
    assert found(lambda path: lints.actions_past_ports(path.read_text()), of_dialects) == {}


BROADCASTS = re.compile(r"\bF\.broadcast\b|import broadcast\b|\.hint\([\"']")


@pytest.mark.large
def test_frames_with_a_row_per_ipfs_log_are_broadcast_by_their_bytes_alone() -> None:
    of_logs = LIB / "dialects" / "ipfslog" / "spark"
    others = (path for path in MODULES if of_logs in path.parents and path.name != "hints.py")
    assert found(lambda path: BROADCASTS.findall(path.read_text()), others) == {}
    assert BROADCASTS.search('F.broadcast(logs.select("namespace"))')


def test_frames_with_a_row_per_authority_of_the_lake_have_no_broadcast_hint() -> None:
    of_aura = LIB / "dialects" / "aura" / "spark"
    named = [of_aura / f"{name}.py" for name in ("histories", "snapshots", "retained_operations")]
    assert found(lambda path: BROADCASTS.findall(path.read_text()), named) == {}


@pytest.mark.large
def test_only_what_classic_sessions_alone_use_reaches_a_jvm() -> None:
    classic = LIB / "session" / "classic"
    assert found(lambda path: lints.reaches_jvm(path.read_text()), sorted(classic.rglob("*.py")))
    others = (path for path in MODULES if classic not in path.parents)
    assert found(lambda path: lints.reaches_jvm(path.read_text()), others) == {}


@pytest.mark.parametrize(
    "source",
    [
        "import py4j.protocol", "from py4j.protocol import Py4JJavaError", "from pyspark import java_gateway",
        "from pyspark import SparkContext", "from delta.exceptions import ConcurrentAppendException",
        "spark.sparkContext.accumulator(0)", "spark._jvm.java", "frame.rdd.map(f)", "frame._jdf",
        "from pyspark.sql.classic.dataframe import DataFrame",
    ],
)  # fmt: skip
def test_the_jvm_lint_notices(source: str) -> None:
    assert lints.reaches_jvm(source)
    assert lints.reaches_jvm("from pyspark.errors import PySparkException; spark.conf.get('x')") == []


@pytest.mark.large
def test_files_of_others_are_opened_in_one_module() -> None:
    told = found(lambda path: lints.opens_files(path.read_text()))
    assert set(told) - set(OPENS_OWN_FILES) == set(), told
    assert set(OPENS_OWN_FILES) - set(told) == set()


@pytest.mark.parametrize(
    "source",
    [
        "open(path, 'rb')",
        "path.open('rb')",
        "Path(path).open(mode)",
        "path.read_bytes()",
        "path.write_text('x')",
        "os.open(path, 0)",
        "shutil.copyfile(a, b)",
    ],
)
def test_a_file_opened_by_its_path_is_seen(source: str) -> None:
    assert lints.opens_files(source)


def lines_of(path: Path) -> int:
    return len(path.read_text().splitlines())


@pytest.mark.large
def test_a_module_fits_into_a_head() -> None:
    assert found(lambda path: max(lines_of(path) - MAX_LINES, 0)) == {}
    long = found(lambda path: lines_of(path) > USUAL_LINES)
    assert len(long) * 20 <= len(MODULES), long


def test_the_page_for_contributors_says_how_long_a_module_may_be() -> None:
    page = " ".join((ROOT / "CONTRIBUTING.md").read_text().split())
    assert f"A module of more than {MAX_LINES} lines becomes a package" in page
    assert f"at most one in twenty has more than {USUAL_LINES} lines" in page


@pytest.mark.parametrize(
    "source",
    [
        "spark.sql(f'SELECT {name}')",
        "spark.sql('SELECT %s' % name)",
        "spark.sql('SELECT ' + name)",
        "spark.sql('SELECT {}'.format(name))",
        "F.expr(f'{a} > 1')",
        "df.selectExpr(f'{a} AS b')",
        "spark.sql(', '.join(names))",
    ],
)
def test_the_sql_lint_notices(source: str) -> None:
    assert lints.sql_put_together(source) == [1]


def test_the_sql_lint_lets_constants_and_rendered_texts_pass() -> None:
    assert (
        lints.sql_put_together("spark.sql('SELECT 1', args={'a': 1}); spark.sql(rendered(x)); F.expr(text)")
        == []
    )


@pytest.mark.parametrize(
    "source",
    ["import pickle", "from marshal import loads", "import subprocess", "import shelve", "eval(x)", "exec(x)",
     "import yaml\nyaml.load(x)", "import os\nos.system(x)", "run(x, shell=True)"],
)  # fmt: skip
def test_the_danger_lint_notices(source: str) -> None:
    assert len(lints.dangerous(source)) == 1


def test_the_other_lints_notice() -> None:
    assert lints.reads_surroundings("import os, time\na = os.environ\nb = time.monotonic()") != []
    assert lints.actions("df.collect()") == ["1: .collect"]
    assert lints.actions("df.count()") == ["1: .count()"]
    assert lints.actions("df.agg(F.count('*'), F.first('a'))") == []
    assert lints.actions_past_ports(
        "df.collect(); df.count(); df.write.save(); spark.read.load(); x.y.head(1)"
    )
    by_ports = (
        "jobs.persist(a, 'b'); tables.read(c); self._tables.read(d); F.first(e); batch.read['f']; head.head"
    )
    assert lints.actions_past_ports(by_ports) == []
