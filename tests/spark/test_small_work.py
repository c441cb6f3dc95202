"""A small command costs few Spark jobs and commits: upper bounds, since counts are stable where seconds are not.

And input of any size that is known costs no MERGE.
"""

from pathlib import Path

from strandline.core.ids import bucket_of
from strandline.dialects.sdmp.author import synthetic
from strandline.dialects.sdmp.codec import batch, render
from strandline.dialects.sdmp.spark import chunks
from strandline.pipelines.report import Report
from strandline.tables import file_scan, small_tables
from support.agreement import assert_admitted_equal, assert_reduced_equal
from support.golden import Recorder
from support.lakes import Lake, write_files
from support.places import BUCKETS
from support.reference import ReferenceLake

JOURNALS, LINES, NEWS = 3, 60, 40
Costs = dict[str, tuple[int, int]]
"""Spark jobs and commits of each command."""


def journals(lines: int) -> dict[str, bytes]:
    return {f"{number}.journal": render(synthetic(number, lines)) for number in range(JOURNALS)}


def known_frames() -> dict[str, bytes]:
    """Frames of stored lines that follow a line in the middle of each journal; one has a wrong `since`."""
    frames = {}
    for number in range(JOURNALS):
        lines = list(synthetic(number, LINES + NEWS))
        node = lines[0].decode()
        since = lines[LINES - 1 if number else LINES - 2][: len(node)].decode()
        frames[f"{number}.frames"] = batch(node, since, lines[LINES : LINES + NEWS]) + b"\n"
    return frames


def worked(spark, lake: Lake, folder: Path) -> tuple[Costs, ReferenceLake]:
    """A lake takes journals, then the same with more lines, and each again; all is reduced and compared."""
    recorder, reference = Recorder(spark), ReferenceLake()
    new = []
    for name, lines in (("first", LINES), ("news", LINES + NEWS)):
        files = journals(lines)
        reference.ingest(files)
        source = write_files(folder / name, files)
        report = recorder.run(f"ingest of {name}", lake, lambda source=source: lake.ingest(source))
        new.append(report.counts["new"])
        recorder.run(f"reduce of {name}", lake, lake.reduce)
        assert_admitted_equal(lake, reference)
        assert_reduced_equal(lake, reference)
        known = recorder.run(f"ingest of known {name}", lake, lambda source=source: lake.ingest(source))
        assert (known.counts["new"], known.counts["known"]) == (0, JOURNALS * lines)
        assert "node_journal_line" not in known.tables
    assert new == [JOURNALS * LINES, JOURNALS * NEWS]
    return {name: (each["jobs"], each["commits"]) for name, each in recorder.commands.items()}, reference


def assert_within(found: Costs, *, ingest: int, known: int, reduce: int) -> None:
    """Each command costs at most so many jobs, and commits once to each table that changes and once to `run`."""
    most = {"ingest of known": (known, 1), "ingest of": (ingest, 2), "reduce of": (reduce, 3)}
    for name, (jobs, commits) in found.items():
        bound = next(bound for command, bound in most.items() if name.startswith(command))
        assert jobs <= bound[0], found
        assert commits == bound[1], found


def known_beside_new_ones(lake: Lake, reference: ReferenceLake, folder: Path) -> None:
    """Lines of a journal without its line 1 come again, before a reduction, beside journals of other buckets."""
    known, *others = (list(synthetic(number, 3)) for number in (3, 5, 6))
    in_buckets = {bucket_of(f"node:{lines[0].decode()}", BUCKETS) for lines in (known, *others)}
    assert len(in_buckets) == 3
    frames = [batch(lines[0].decode(), lines[0].decode(), lines[1:]) + b"\n" for lines in (known, *others)]
    for name, new in (("alone", b""), ("a frame", frames[1]), ("a text", render(others[1]))):
        files = {"known.frames": frames[0]} | ({"new": new} if new else {})
        reference.ingest(files)
        lake.ingest(write_files(folder / name, files))
        assert_admitted_equal(lake, reference)
    lake.reduce()
    assert_reduced_equal(lake, reference)


def test_a_small_command_in_a_small_lake(spark, new_lake, tmp_path):
    lake = new_lake()
    found, reference = worked(spark, lake, tmp_path / "in")
    assert_within(found, ingest=5, known=2, reduce=10)
    known_beside_new_ones(lake, reference, tmp_path)
    # Lines that somebody deleted come back: the end of a journal does not speak for the lines before it.
    table = f"delta.`{lake.path / 'node_journal_line'}`"
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('delta.appendOnly' = 'false')")
    spark.sql(f"DELETE FROM {table} WHERE n BETWEEN 20 AND 22").collect()
    assert lake.ingest(tmp_path / "in" / "news").counts["new"] == 3 * JOURNALS
    assert_admitted_equal(lake, reference)


def test_a_small_command_in_a_large_lake(spark, new_lake, monkeypatch, tmp_path):
    # No table is read into the driver; the few commits since the last command are.
    monkeypatch.setattr(small_tables.SmallTables, "rows", lambda *_: None)
    monkeypatch.setattr(small_tables.SmallTables, "is_small", lambda *_: False)
    lake = new_lake()
    found, reference = worked(spark, lake, tmp_path / "in")
    news = {name: costs for name, costs in found.items() if name.endswith("news")}
    assert_within(news, ingest=20, known=12, reduce=40)
    # The line before a frame is asked for once: it places the frame, and says whether `since` is right.
    files = known_frames()
    reference.ingest(files)
    source, recorder = write_files(tmp_path / "frames", files), Recorder(spark)
    report = recorder.run("ingest of known frames", lake, lambda: lake.ingest(source))
    assert (report.counts["known"], report.counts["since_mismatch"]) == (JOURNALS * NEWS, 1)
    assert recorder.commands["ingest of known frames"]["jobs"] <= 16
    assert_admitted_equal(lake, reference)


def test_large_input_that_is_known_is_not_merged(spark, new_lake, monkeypatch, tmp_path):
    # No input is small, and files are read in splits of a few lines.
    monkeypatch.setattr(file_scan, "SMALL_BYTES", -1)
    monkeypatch.setattr(chunks, "CHUNK_LINES", 4)
    lake, reference = new_lake(read={"lines_min_bytes": 1, "split_bytes": 512}), ReferenceLake()

    def ingest(name: str, lines: int) -> Report:
        files = journals(lines) | {"long.journal": render(synthetic(JOURNALS, lines, "0.12"))}
        reference.ingest(files)
        report = lake.ingest(write_files(tmp_path / name, files))
        assert_admitted_equal(lake, reference)
        return report

    ingest("first", LINES)
    lake.reduce()
    known = ingest("again", LINES)
    assert (known.counts["new"], known.counts["known"]) == (0, (JOURNALS + 1) * LINES)
    assert "node_journal_line" not in known.tables
    assert ingest("news", LINES + NEWS).counts["new"] == (JOURNALS + 1) * NEWS
    # What the reduced journals do not have yet is left to the MERGE.
    assert ingest("news again", LINES + NEWS).counts["new"] == 0
    lake.reduce()
    assert_reduced_equal(lake, reference)
    # A reduced journal that says more than its lines is not believed.
    table = f"delta.`{lake.path / 'node_journal_line'}`"
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('delta.appendOnly' = 'false')")
    spark.sql(f"DELETE FROM {table} WHERE n = {LINES + NEWS}").collect()
    assert ingest("brought back", LINES + NEWS).counts["new"] == JOURNALS + 1
