"""The slow tier in parts: 48 commits in a row run all of it, each about equally long."""

import os
import random
import re
import subprocess
from pathlib import Path

import pytest

from support.slow_parts import UNKNOWN_SECONDS, Part, divide, keep_seconds, stored_seconds

ROOT = Path(__file__).parents[3]
SECONDS = {f"test {number}": float(seconds) for number, seconds in enumerate((300, 9, 8, 70, 70, 60, 5, 90))}


def test_each_test_is_in_one_part_whatever_the_order_they_come_in() -> None:
    tests = [*SECONDS, "nobody measured this"]
    parts = divide(tests, SECONDS, 3)
    assert sorted(test for part in parts for test in part) == sorted(tests)
    for seed in range(5):
        shuffled = random.Random(seed).sample(tests, len(tests))
        assert divide(shuffled, dict(sorted(SECONDS.items(), reverse=True)), 3) == parts


def test_the_longest_test_stands_alone_and_the_others_are_even() -> None:
    parts = divide(SECONDS, SECONDS, 3)
    loads = sorted(sum(SECONDS[test] for test in part) for part in parts)
    assert loads == [155, 157, 300]
    # Nobody measured it: it counts as much as a test usually takes.
    assert divide(["a", "b", "new"], {"a": UNKNOWN_SECONDS - 1, "b": 2}, 2) == [["new"], ["a", "b"]]


def test_more_parts_than_tests_leave_parts_empty() -> None:
    assert divide(["one"], {}, 3) == [["one"], [], []]


@pytest.mark.parametrize("text", ["", "1", "0/6", "7/6", "-1/6", "1/0", "a/6", "1/b", "²/6", "1/6/2"])
def test_what_names_no_part_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="part"):
        Part.parse(text)


def test_measured_seconds_replace_stored_ones_and_keep_the_others(tmp_path: Path) -> None:
    stored = tmp_path / "seconds.json"
    stored.write_text('{"b": 1.0, "a": 2.0}')
    keep_seconds({"b": 3.14}, stored)
    assert list(stored_seconds(stored).items()) == [("a", 2.0), ("b", 3.1)]


def test_stored_seconds_are_those_of_tests_that_exist() -> None:
    for test in stored_seconds():
        file, _, name = test.partition("::")
        assert re.search(rf"^def {name.partition('[')[0]}\(", (ROOT / file).read_text("utf-8"), re.MULTILINE)


@pytest.mark.large
def test_48_commits_in_a_row_run_all_tests_and_every_part_of_the_slow_tier(tmp_path: Path) -> None:
    # What .ci/run would run, with a `make` that only prints and the number of the commit from `git`.
    for name, line in {"make": 'echo "$@"', "git": 'echo "$COMMITS"'}.items():
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\n{line}\n")
        program.chmod(0o755)
    parts = []
    for commits in range(997, 1045):
        environ = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}", "COMMITS": str(commits)}
        done = subprocess.run([ROOT / ".ci" / "run"], env=environ, capture_output=True, text=True, check=True)
        everything, soak = done.stdout.splitlines()
        assert everything == "--no-print-directory test"
        parts.append(soak.partition("soak PART=")[2])
    assert sorted(parts) == sorted(f"{number}/48" for number in range(1, 49))


def test_a_run_of_all_tests_that_fails_is_the_end_of_the_run_in_ci(tmp_path: Path) -> None:
    (tmp_path / "make").write_text('#!/bin/sh\necho "$@"\ntest "$2" != test || exit 4\n')
    (tmp_path / "make").chmod(0o755)
    environ = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run([ROOT / ".ci" / "run"], env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()) == (4, ["--no-print-directory test"])
