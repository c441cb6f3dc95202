"""Turns, stages, workers and made-up rows: what the figures stand on."""

import hashlib
import os
from itertools import islice
from pathlib import Path

import pytest

from bench import workers
from bench.catalogue import CATALOGUE
from bench.data import Data, namespace_of, text_bytes
from bench.figures import GROUPS
from bench.figures.authority_lakes import public_reduction
from bench.logs import author, folders, one_log, peer_logs
from bench.measure import Run, Stages, alternate, median_run
from bench.rows import Stretch, hashes_and_compares, journal_rows, verified
from bench.sizes import Sizes
from strandline.core.ids import bucket_of
from strandline.dialects.ipfslog.author import open_logs, to_blocks
from strandline.dialects.sdmp import codec, verify
from strandline.dialects.sdmp.author import synthetic
from strandline.dialects.sdmp.types import Frame

SMALL = Sizes(20, 20)


def test_contenders_take_turns() -> None:
    order: list[str] = []

    def contender(name: str) -> Run:
        order.append(name)
        return Run(1.0)

    runs = alternate({"a": lambda: contender("a"), "b": lambda: contender("b")}, 2)
    assert order == ["a", "b", "a", "b"]
    assert {name: len(each) for name, each in runs.items()} == {"a": 2, "b": 2}


@pytest.mark.parametrize(("seconds", "median"), [((3.0, 1.0, 2.0), 2.0), ((4.0, 1.0), 1.0), ((7.0,), 7.0)])
def test_the_stages_shown_are_of_the_run_in_the_middle(seconds: tuple[float, ...], median: float) -> None:
    assert median_run(tuple(Run(each) for each in seconds)).seconds == median


def test_a_stage_that_comes_again_adds_to_its_seconds() -> None:
    stages = Stages()
    for name in ("lines", "heads", "lines"):
        stages.stage(name)
    assert list(stages.ended()) == ["look at the lake", "lines", "heads"]


def test_the_commits_of_a_run_are_its_stages_that_write() -> None:
    assert (
        Run(3.0, {"changes": 1.0, "writing ipfs_log_view": 1.5, "writing the report to run": 0.25}).writing
        == 1.75
    )


def test_workers_are_the_daemons_children_below_this_driver_and_no_others() -> None:
    parents = {10: 1, 20: 10, 30: 20, 40: 30, 41: 30, 50: 30, 60: 1, 61: 60}
    daemon, plain = (
        b"python\x00-m\x00%s\x00pyspark.worker\x00" % name
        for name in (b"strandline.session.daemon", b"pyspark.daemon")
    )
    commands = {
        10: b"python -m bench",
        20: b"java",
        30: daemon,
        40: daemon,
        41: plain,
        50: b"sh",
        60: daemon,
        61: daemon,
    }
    assert workers.workers_of(parents, commands, 10) == {40, 41}


def test_the_high_water_mark_is_read_in_bytes() -> None:
    assert (
        workers.high_water_bytes("Name:\tpython\nVmPeak:\t  9 kB\nVmHWM:\t  2048 kB\nVmRSS:\t 7 kB\n")
        == 2 * 2**20
    )
    assert workers.high_water_bytes("") == 0


def test_the_time_of_cores_is_that_of_a_process_and_of_children_that_have_ended() -> None:
    tick = os.sysconf("SC_CLK_TCK")
    stat = b"7 (a) b) S 1 7 7 0 -1 4194304 10 20 30 40 %d %d %d %d 20 0 4 0 55" % (
        tick,
        2 * tick,
        4 * tick,
        8 * tick,
    )
    assert workers.cpu_seconds(stat) == 15.0


def test_peers_read_files_of_as_many_entries_in_one_log_or_in_many(tmp_path: Path) -> None:
    data = Data.of(SMALL, tmp_path)
    identity = to_blocks((), [author("core2").record])
    for as_blocks, more in ((False, ()), (True, ((identity, "lines"),))):
        for deep, count in ((False, 3), (True, 1)):
            paths = peer_logs(data, as_blocks, deep, 3)
            opened = open_logs([*((path.read_bytes(), "lines") for path in paths), *more])
            assert (len(opened.logs), opened.counts.new, opened.quarantine) == (count, 3 * 20 + len(more), ())
            assert all(len(log.heads) == 1 for log in opened.logs.values())
    [long] = one_log(data, 3).iterdir()
    opened = open_logs([(long.read_bytes(), "lines")])
    assert (len(opened.logs), opened.counts.new) == (1, 3 * 20)


def test_both_numbers_of_a_size_shrink_alike_and_never_to_nothing() -> None:
    assert Sizes.of(1.0) == Sizes(1000, 1000)
    assert Sizes.of(0.01) == Sizes(100, 100)
    assert Sizes.of(1e-9) == SMALL
    assert Sizes.of(1.0).news_lines == Sizes.of(1.0).large_lines // 100


def test_the_loop_counts_the_lines_that_follow() -> None:
    lines = list(synthetic(3, 10))
    assert hashes_and_compares(codec.render(lines)) == 9
    assert hashes_and_compares(codec.render([*lines[:4], *lines[5:]])) == 7


def test_the_loop_of_one_process_stops_at_the_first_damage(tmp_path: Path) -> None:
    lines = list(synthetic(3, 10))
    path = tmp_path / "a.journal"
    path.write_bytes(codec.render([*lines[:4], *lines[5:]]))
    assert verified(path) == Stretch(namespace_of(3), 1, lines[:4])


def test_made_up_rows_are_those_of_the_reference() -> None:
    lines = list(synthetic(3, 10))
    rows = journal_rows([Stretch(namespace_of(3), 1, lines)], run_id="r", buckets=16).to_dicts()
    judged = verify.judge(lines[0].decode(), [lines])
    assert {row["record_id"]: row["n"] for row in rows} == judged.accepted
    for row, raw in zip(rows, lines, strict=True):
        line = codec.parse_line(raw, "0.9")
        assert not isinstance(line, str)
        assert (row["line_number"], row["author_fp"], row["resource_id"]) == (
            line.number,
            line.author,
            line.resource,
        )
        assert row["line_hash"] == hashlib.sha256(raw).hexdigest()
        assert row["bucket"] == bucket_of(row["namespace"], 16)


def test_news_follow_what_is_held(tmp_path: Path) -> None:
    data = Data.of(SMALL, tmp_path)
    [path] = sorted(data.more_of((2,), "news").iterdir())
    frame = codec.parse_frame(path.read_bytes().removesuffix(b"\n"))
    lines = list(synthetic(2, 40))
    assert frame == Frame(lines[0].decode(), "0.9", lines[19][:64].decode(), tuple(lines[20:]))


def test_whole_journals_are_frames_in_a_few_files(tmp_path: Path) -> None:
    paths = sorted(Data.of(SMALL, tmp_path).frames(3, 2).iterdir())
    frames = [codec.parse_frame(line) for path in paths for line in path.read_bytes().splitlines()]
    journals = [[line.decode() for line in synthetic(number, 2)] for number in (1, 2, 3)]
    assert frames == [
        Frame(first, "0.9", first, (first.encode(), second.encode())) for first, second in journals
    ]


def test_input_is_made_once_and_is_as_large_as_it_says(tmp_path: Path) -> None:
    data = Data.of(SMALL, tmp_path)
    [folder] = data.many()
    made = {path.name: path.stat().st_mtime_ns for path in Path(folder).iterdir()}
    assert len(made) == 20
    assert text_bytes(data.many()) == 20 * (64 + 19 * 195)
    assert {path.name: path.stat().st_mtime_ns for path in Path(folder).iterdir()} == made
    assert data.one().read_bytes() == codec.render(islice(synthetic(0, 400), 400))


def test_news_at_tips_touch_two_buckets(tmp_path: Path) -> None:
    data = Data.of(SMALL, tmp_path)
    assert {bucket_of(namespace_of(number), 16) for number in data.in_tip_buckets()} <= {0, 1}
    assert len(data.in_tip_buckets()) == len(data.touched()) == SMALL.touched


def test_made_up_logs_are_made_once_verify_and_follow_one_chain(tmp_path: Path) -> None:
    data = Data.of(SMALL, tmp_path)
    made = folders(data, 5)
    assert folders(data, 5) == made
    paths = [path for folder in made for path in sorted(Path(folder).iterdir())]
    assert [path.stem for path in paths] == [f"{number:06d}" for number in range(5)]
    opened = open_logs([(path.read_bytes(), "lines") for path in paths])
    assert (opened.counts.new, opened.quarantine) == (5 * 20, ())
    assert all(len(log.heads) == len(log.tails) == 1 for log in opened.logs.values())


def test_a_time_of_others_is_scaled_to_as_many_facts_as_ours() -> None:
    assert public_reduction(100_000) == 1.0
    assert public_reduction(15_000) == pytest.approx(0.15)


def test_every_figure_is_measured_by_one_group() -> None:
    numbers = [number for group in GROUPS for number in group.numbers]
    assert sorted(numbers) == sorted(CATALOGUE)
