"""News on top of a stored state give the rows of a reduction of everything, at the price of the news."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from strandline.core.errors import FaultError
from strandline.core.ids import bucket_of
from strandline.dialects.sdmp.author import append, synthetic, synthetic_id
from strandline.dialects.sdmp.codec import batch, render
from strandline.dialects.sdmp.kernels import LINE_COLUMNS
from strandline.dialects.sdmp.spark import few_lines
from strandline.pipelines import changes, dialect_reduction
from strandline.pipelines.faults import Faults
from strandline.pipelines.reduction_writer import ReductionWriter
from strandline.pipelines.runs import RunResult, record_run
from strandline.tables import small_tables
from strandline.tables.commits import session_settings
from strandline.tables.store import TableStore
from support.agreement import assert_admitted_equal, assert_reduced_equal
from support.commits import AUTO_COMPACT
from support.kills import KilledError, kill
from support.lakes import Lake, write_files
from support.places import BUCKETS
from support.plans import executed_plans
from support.reference import ReferenceLake

LINES = "node_journal_line"
REDUCED = ("node_journal", "equivocation", "namespace_state")
NEWS = 1_000
BIG, FORKED, GAPPED, LATE, QUIET, UNSEEN, NEWEST = 0, 1, 2, 3, range(4, 12), 12, 13
SMALL_LINES = 60


@dataclass
class History:
    """A lake reduced to its lines, the files that made it, and every line of its big journal."""

    lake: Lake
    files: dict[str, bytes]
    big: list[bytes]

    def reference(self) -> ReferenceLake:
        made = ReferenceLake()
        made.ingest(self.files)
        return made


def reduced_history(spark, settings, empty: Path, root: Path, lines: int) -> History:
    """A lake of one journal of so many lines and eleven of few; one of them, `GAPPED`, lacks lines 11 to 29."""
    shutil.copytree(empty, root / "lake")
    big = list(synthetic(BIG, lines + NEWS))
    small = {number: small_journal(number) for number in (FORKED, GAPPED, LATE, *QUIET)}
    gapped = small[GAPPED]
    files = {f"{number}.journal": render(of[:50]) for number, of in small.items() if number != GAPPED}
    files["big.journal"] = render(big[:lines])
    files["gapped.jsonl"] = frame(gapped, 0, 10) + b"\n" + frame(gapped, 29, SMALL_LINES) + b"\n"
    lake = Lake(spark, settings, root / "lake")
    lake.ingest(write_files(root / "in", files))
    lake.reduce()
    return History(lake, files, big)


def small_journal(number: int) -> list[bytes]:
    return list(synthetic(number, SMALL_LINES, "0.12" if number == LATE else "0.9"))


def node_of(number: int) -> str:
    return small_journal(number)[0].decode()


def frame(lines: list[bytes], first: int, last: int) -> bytes:
    """The lines at the places `first` to `last` - 1, asked for after the line before them."""
    node = lines[0].decode()
    since = node if first < 2 else lines[first - 1].partition(b"@")[0].decode()
    return batch(node, since, lines[first:last])


def branch(lines: list[bytes], at: int, length: int, *, author: int | None = None) -> bytes:
    """A frame of other lines that follow the line at the place `at`; with no author their pairs are the journal's."""
    profile = "0.9" if len(lines[0]) == 64 else "0.12"
    theirs = [line.partition(b"@")[2].decode().split("/") for line in lines[at + 2 : at + 2 + length]]
    given = None if author is None else synthetic_id("author", author, profile)
    pairs = [(given or name, resource) for name, resource in theirs]
    return batch(lines[0].decode(), lines[at].partition(b"@")[0].decode(), append(lines[at], pairs, profile))


def assert_reduced_as_in_full(lake: Lake, reference: ReferenceLake) -> None:
    """The reduced rows are those of the reference, and `--full` changes none of them."""
    assert_admitted_equal(lake, reference)
    assert_reduced_equal(lake, reference)
    before = lake.versions()
    full = lake.reduce(full=True)
    assert (full.outcome, full.exit, full.counts["reduced"]) == ("ok", 0, 0)
    assert full.members["differences"] == {}
    assert lake.versions() == before


def assert_reduced_as_from_nothing(lake: Lake, rebuilt: Path, empty: Path) -> None:
    """The reduced rows are those of a lake that holds nothing but the records."""
    shutil.copytree(empty, rebuilt)
    for table in (LINES, "quarantine"):
        shutil.rmtree(rebuilt / table)
        shutil.copytree(lake.path / table, rebuilt / table)
    anew = Lake(lake.spark, lake.settings, rebuilt)
    anew.reduce()
    assert {table: anew.rows(table) for table in REDUCED} == {table: lake.rows(table) for table in REDUCED}


def test_news_that_outnumber_what_was_there_and_large_news_are_reduced_with_the_same_rows(
    new_lake, monkeypatch, tmp_path
):
    monkeypatch.setattr(changes, "LARGE_CHANGES", 30)
    monkeypatch.setattr(few_lines, "FEW_LINES", 0)
    lake, reference = new_lake(), ReferenceLake()

    def reduced(name: str, files: dict[str, bytes]) -> tuple[int, int]:
        reference.ingest(files)
        lake.ingest(write_files(tmp_path / name, files))
        report = lake.reduce()
        assert_reduced_equal(lake, reference)
        return report.counts["new_records"], report.counts["reduced"]

    assert reduced("first", {f"{n}.journal": render(synthetic(n, 6)) for n in range(4)}) == (0, 4)
    # Everything: journals without news, too. Then the news alone, forks among them.
    more = {f"{n}.journal": render(synthetic(n, 9)) for n in range(2, 8)}
    assert reduced("more", more) == (2 * 3 + 4 * 9, 8)
    lines = small_journal(FORKED)
    forked = branch(lines, 2, 3, author=1)
    assert reduced("news", {"grown.journal": render(lines[:50]), "forked.jsonl": forked}) == (44 + 3, 1)
    # `--full` repairs a damaged row, a missing one and one without a record: by joins, and whole.
    assert_repaired(lake, reference)
    monkeypatch.undo()
    assert_repaired(lake, reference)


def test_a_reduction_that_another_one_overtakes_ends_with_the_states_of_all_records(
    new_lake, monkeypatch, tmp_path
):
    lake, reference = new_lake(), ReferenceLake()
    grown, new, more, late = (small_journal(number) for number in (FORKED, *QUIET[:3]))

    def ingest(name: str, files: dict[str, bytes]) -> None:
        reference.ingest(files)
        lake.ingest(write_files(tmp_path / name, files))

    def overtake(name: str, files: dict[str, bytes], reduced: int = 2) -> None:
        ingest(name, files)
        assert lake.reduce().counts["reduced"] == reduced

    ingest("first", {"grown.journal": render(grown[:10])})
    # Of a run that may not reduce once more the operator is told, and the next one mends what it left.
    with monkeypatch.context() as once:
        once.setattr(dialect_reduction, "ROUNDS", 1)
        before = {"grown.journal": render(grown[:12])}
        with pytest.raises(FaultError) as lost:
            lake.reduce(faults=Faults("reduce.before_state", fire=lambda: overtake("before", before, 1)))
    assert (lost.value.code, "1 times in a row" in lost.value.message) == ("WRITE_CONFLICT", True)
    # The other one has the news of this journal and another journal: by its version all is reduced.
    # Delta compacts each table right after its MERGE: the states that the other one wrote are found all the same.
    news = {"grown.journal": render(grown[:20]), "new.journal": render(new)}
    with session_settings(lake.spark, AUTO_COMPACT):
        lake.reduce(faults=Faults("reduce.before_state", fire=lambda: overtake("news", news)))
    assert_reduced_equal(lake, reference)

    def late_differences(*given, differences=dialect_reduction.differences):
        monkeypatch.undo()
        overtake("late", {"grown.journal": render(grown), "late.journal": render(late)})
        return differences(*given)

    # A run that is killed before it reduces once more leaves older states on top: the next one finds them.
    faults = Faults("reduce.before_state")

    def overtake_and_kill() -> None:
        # All three: the other run has written rows, and counts as killed.
        overtake("more", {"grown.journal": render(grown[:25]), "more.journal": render(more)}, 3)
        faults.nth, faults.fire = 2, kill

    faults.fire = overtake_and_kill
    ingest("some", {"grown.journal": render(grown[:22])})
    with pytest.raises(KilledError):
        lake.reduce(faults=faults)
    assert (22,) in lake.rows("namespace_state", "record_count")
    lake.reduce()
    assert_reduced_equal(lake, reference)
    assert lake.reduce().counts["reduced"] == 0

    # One that is killed before its states left older rows below newer states, also if only other journals grow then.
    def overtaken(writer, reduction, write=ReductionWriter.write):
        monkeypatch.setattr(ReductionWriter, "write", write)
        overtake(f"rows {length}", {"grown.journal": render(grown[: length + 2]), f"{length}.journal": other})
        write(writer, reduction)

    for length, is_idle, is_few, has_commits in (
        (30, True, True, False), (33, False, True, False), (36, False, False, False), (39, True, True, True)
    ):  # fmt: skip
        other, elsewhere = (render(small_journal(length + number)) for number in (0, 1))
        if not is_few:
            monkeypatch.setattr(few_lines, "FEW_LINES", 0)
        ingest(f"few {length}", {"grown.journal": render(grown[:length])})
        monkeypatch.setattr(ReductionWriter, "write", overtaken)
        with pytest.raises(KilledError):
            lake.reduce(faults=Faults("reduce.before_state", fire=kill))
        assert (length,) in lake.rows("node_journal", "line_count")
        if has_commits:
            lake.damage(f"ALTER TABLE {LINES} SET TBLPROPERTIES ('team' = 'journals')")
        if not is_idle:
            ingest(f"elsewhere {length}", {"elsewhere.journal": elsewhere})
        lake.reduce()
        assert_reduced_equal(lake, reference)
        assert lake.reduce().counts["reduced"] == 0
        monkeypatch.undo()
    # What is newer than the comparison is no difference, and stays.
    monkeypatch.setattr(dialect_reduction, "differences", late_differences)
    full = lake.reduce(full=True)
    assert (full.exit, full.members["differences"]) == (0, {})
    assert_reduced_as_in_full(lake, reference)

    # One that writes rows of older records over those of a run without states yet, and changes no state.
    def overwritten(of=TableStore.version):
        before = lake.versions()[LINES] - 1
        monkeypatch.setattr(
            TableStore, "version", lambda store, table: before if table == LINES else of(store, table)
        )
        lake.reduce(full=True)
        monkeypatch.undo()

    last = small_journal(70)
    ingest("last", {"last.journal": render(last[:10])})
    lake.reduce()
    ingest("over", {"last.journal": render(last[:20])})
    lake.reduce(faults=Faults("reduce.before_state", fire=overwritten))
    assert_reduced_as_in_full(lake, reference)


def without_journals(store, table, *given, replace=TableStore.replace, **more):
    """Write every table but `node_journal`, as a kill between MERGEs that run at once does."""
    if table == "node_journal":
        raise OSError("no journals")
    return replace(store, table, *given, **more)


def assert_repaired(lake: Lake, reference: ReferenceLake) -> None:
    """`--full` names and repairs a damaged row, a missing one and one without a record."""
    damaged, lost, stray = (f"node:{node_of(n)}" for n in (FORKED, GAPPED, LATE))
    lake.damage("UPDATE node_journal SET tip_n = tip_n + 1 WHERE namespace = '{}'", damaged)
    lake.damage("DELETE FROM namespace_state WHERE namespace = '{}'", lost)
    row = (
        f"SELECT * EXCEPT (namespace, bucket), '{stray}' AS namespace, {bucket_of(stray, BUCKETS)} AS bucket"
    )
    lake.damage(f"INSERT INTO node_journal BY NAME {row} FROM node_journal WHERE namespace = '{{}}'", lost)
    found = lake.reduce(full=True)
    assert (found.outcome, found.exit) == ("found", 1)
    assert found.members["differences"] == {
        "node_journal": sorted([damaged, stray]), "namespace_state": [lost],
    }  # fmt: skip
    assert_reduced_equal(lake, reference)


def test_late_forks_a_filled_gap_and_late_twins_are_reduced_as_if_all_had_come_at_once(
    spark, settings, empty_lakes, tmp_path, monkeypatch
):
    monkeypatch.setattr(few_lines, "FEW_LINES", 0)
    history = reduced_history(spark, settings, empty_lakes[False], tmp_path, 2_000)
    lake, reference = history.lake, history.reference()
    forked, gapped, late, unseen, newest = map(small_journal, (FORKED, GAPPED, LATE, UNSEEN, NEWEST))
    years = [
        # Forks in old lines, one of a big journal; the gap is filled; a journal of the other profile forks.
        {
            "1.jsonl": branch(forked, 20, 3),
            "2.jsonl": frame(gapped, 10, 29),
            "3.jsonl": branch(late, 30, 2),
            "big.jsonl": branch(history.big, 500, 4),
        },
        # A fork on the branch of a fork, a third sibling, a branch that outgrows the trunk; the tips grow too.
        {
            "1.jsonl": branch(forked, 20, 2, author=1) + b"\n" + frame(forked, 50, 60),
            "2.jsonl": branch(gapped, 25, 30) + b"\n" + branch(gapped, 40, 1, author=3),
            "3.jsonl": frame(late, 50, 60) + b"\n" + branch(late, 10, 5, author=2),
            "big.jsonl": branch(history.big, 1_500, 2, author=2),
        },
        # Forks of which a killed run writes the rows, but not those of their journals. The lake has no line of one yet.
        {
            "big.jsonl": branch(history.big, 700, 2, author=3),
            "unseen.jsonl": frame(unseen, 0, 40) + b"\n" + branch(unseen, 15, 2),
        },
        # Such forks, one of two new lines and one known before, of which no trace is left: a run of another dialect has
        # repaired `equivocation` since.
        {
            "1.jsonl": branch(forked, 20, 1, author=4),
            "big.jsonl": branch(history.big, 900, 2, author=4),
            "more.jsonl": branch(history.big, 900, 1, author=5),
            "newest.jsonl": frame(newest, 0, 40) + b"\n" + branch(newest, 15, 2),
        },
    ]
    for number, files in enumerate(years):
        reference.ingest(files)
        lake.ingest(write_files(tmp_path / f"year{number}", files))
        if number >= 2:
            with monkeypatch.context() as patch:
                patch.setattr(TableStore, "replace", without_journals)
                with pytest.raises(OSError, match="no journals"):
                    lake.reduce()
        if number == 3:
            other = lake.store("another-dialect")
            other.begin_repair(("equivocation",))
            other.touch("equivocation")
            record_run(other, lake.context(other, "reduce"), RunResult())
            assert not lake.store().begin_repair(REDUCED)
        lake.reduce()
        assert_reduced_equal(lake, reference)
    # Until here by joins; from here on each journal whole, from all of its lines.
    monkeypatch.undo()
    assert_reduced_as_in_full(lake, reference)
    assert_reduced_as_from_nothing(lake, tmp_path / "rebuilt", empty_lakes[False])
    lake.assert_sound()
    states = {node: reference.state(node) for node in map(node_of, (FORKED, GAPPED, LATE, UNSEEN, NEWEST))}
    assert [state.journal.fork_count for state in states.values()] == [1, 2, 2, 1, 1]
    assert all(state.journal.duplicate_pairs for state in states.values())
    assert max(fork.member_count for fork in states[node_of(FORKED)].forks) == 4
    assert reference.state(history.big[0].decode()).journal.fork_count == 4
    assert not reference.rows("deferred")


@pytest.mark.parametrize(
    "count", [50_000, pytest.param(1_000_000, marks=pytest.mark.slow)], ids="{:,} lines".format
)
def test_news_of_a_large_journal_cost_the_change_feed_and_the_pairs_of_its_bucket(
    spark, settings, empty_lakes, tmp_path, count, monkeypatch
):
    # Spark reads all tables, also the small ones.
    monkeypatch.setattr(small_tables, "MOST_FILES", -1)
    history = reduced_history(spark, settings, empty_lakes[False], tmp_path, count)
    lake = history.lake
    old, node = len(history.big) - NEWS, history.big[0].decode()
    news = {"news.jsonl": frame(history.big, old, old + NEWS)}
    assert lake.ingest(write_files(tmp_path / "news", news)).counts["new"] == NEWS
    bucket = bucket_of(f"node:{node}", BUCKETS)
    hidden = hide(lake, bucket)
    assert {path.parent.parent.name for path in hidden} == {LINES, "node_journal", "quarantine"}
    try:
        with executed_plans(lake.spark) as plans:
            report = lake.reduce()
    finally:
        for path in hidden:
            path.with_suffix(".hidden").rename(path)
    assert (report.namespaces, report.counts["new_records"], report.counts["reduced"]) == (1, NEWS, 1)
    scans = plans.scans(LINES)
    feed = [scan for scan in scans if scan.index == "CdcAddFileIndex"]
    table = [scan for scan in scans if scan.index != "CdcAddFileIndex"]
    # They are counted without a column read, then read once.
    assert [bool(scan.columns) for scan in feed] == [False, True]
    assert feed[1].columns <= set(LINE_COLUMNS)
    assert [scan.columns for scan in table] == [{"namespace", "author_fp", "resource_id"}]
    [partitions] = [scan.partitions for scan in table]
    assert f"= {bucket})" in partitions
    reference = history.reference()
    reference.ingest(news)
    assert_reduced_as_in_full(lake, reference)


def hide(lake: Lake, bucket: int) -> list[Path]:
    """Take the data files of all other buckets away; `namespace_state` stays: it tells what was reduced."""
    found = [
        path
        for table in (LINES, "node_journal", "equivocation", "quarantine")
        for path in (lake.path / table).glob("bucket=*/*.parquet")
        if path.parent.name != f"bucket={bucket}"
    ]
    for path in found:
        path.rename(path.with_suffix(".hidden"))
    return found
