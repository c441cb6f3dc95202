"""A small command costs few Spark jobs and commits: upper bounds, since counts are stable where seconds are not."""

from pathlib import Path

from strandline.dialects.sdmp.author import synthetic
from strandline.dialects.sdmp.codec import render
from support.agreement import assert_admitted_equal, assert_reduced_equal
from support.golden import Recorder
from support.lakes import Lake, write_files
from support.reference import ReferenceLake

JOURNALS, LINES, NEWS = 3, 60, 40


def journals(lines: int) -> dict[str, bytes]:
    return {f"{number}.journal": render(synthetic(number, lines)) for number in range(JOURNALS)}


def worked(spark, lake: Lake, folder: Path) -> Recorder:
    """A lake takes journals, then the same with more lines, and each again; all is reduced and compared."""
    recorder, reference = Recorder(spark), ReferenceLake()
    for name, lines in (("first", LINES), ("news", LINES + NEWS)):
        files = journals(lines)
        reference.ingest(files)
        source = write_files(folder / name, files)
        recorder.run(f"ingest of {name}", lake, lambda source=source: lake.ingest(source))
        recorder.run(f"reduce of {name}", lake, lake.reduce)
        assert_admitted_equal(lake, reference)
        assert_reduced_equal(lake, reference)
        recorder.run(f"ingest of known {name}", lake, lambda source=source: lake.ingest(source))
    assert [each["counts"]["new"] for each in recorder.commands.values() if "new" in each["counts"]] == [
        JOURNALS * LINES, 0, JOURNALS * NEWS, 0,
    ]  # fmt: skip
    return recorder


def jobs_and_commits(recorder: Recorder) -> dict[str, tuple[int, int]]:
    return {name: (each["jobs"], each["commits"]) for name, each in recorder.commands.items()}


def assert_within(found: dict[str, tuple[int, int]], most: dict[str, tuple[int, int]]) -> None:
    dear = {name: (found[name], bound) for name, bound in most.items() if found[name][0] > bound[0]}
    assert dear == {}
    assert {name: commits for name, (_, commits) in found.items()} == {
        name: commits for name, (_, commits) in most.items()
    }


def test_a_small_command_in_a_small_lake(spark, new_lake, tmp_path):
    found = jobs_and_commits(worked(spark, new_lake(), tmp_path / "in"))
    assert_within(
        found,
        {
            "ingest of first": (12, 2),
            "reduce of first": (25, 3),
            "ingest of known first": (8, 1),
            "ingest of news": (12, 2),
            "reduce of news": (25, 3),
            "ingest of known news": (8, 1),
        },
    )
