"""`status --all` of a lake with very many namespaces: the same rows in the same order, in the same memory."""

import json
import os
import re
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from strandline.cli import main
from strandline.pipelines.report import Report
from strandline.pipelines.spooled import SpooledRows
from strandline.tables import delta_rs, slices
from strandline.tables.location import Location
from support.delta_rs_lake import empty_lake, held, rejected_namespaces, state, write

MEGABYTE = 1024 * 1024
CUT = re.compile(
    r"bucket = (\d+) AND substr\(md5\(namespace\), 1, 4\) BETWEEN '([0-9a-f]{4})' AND '([0-9a-f]{4})'"
)


@pytest.fixture(scope="module")
def lake(tmp_path_factory) -> Path:
    """Namespaces of each health in seven buckets, most of them in one."""
    lake = empty_lake(tmp_path_factory.mktemp("many") / "lake")
    names = [f"node:{number:03d}é" for number in range(120)]
    buckets = {name: 3 if at % 4 else at % 7 for at, name in enumerate(names)}
    write(lake, "namespace_state", [state(name) | {"bucket": buckets[name]} for name in names[::3]])
    rows = [
        held(
            b"%d %d" % (at, more), namespace=name, status="rejected" if at % 3 else "deferred", reasons=["X"]
        )
        | {"bucket": buckets[name]}
        for at, name in enumerate(names)
        for more in range(at % 5)
    ]
    write(lake, "quarantine", rows)
    forks = [{"namespace": name, "bucket": buckets[name]} for name in names[::17] for _ in range(2)]
    write(lake, "equivocation", forks)
    return lake


def shown(capsys, *words: str) -> str:
    """What a command prints, but its own id and seconds."""
    capsys.readouterr()
    assert main(list(words)) == 0
    out = capsys.readouterr().out
    if "--json" in words:
        report = json.loads(out)
        return json.dumps({**report, "run_id": "", "seconds": 0})
    return out


@pytest.mark.large
@pytest.mark.parametrize("words", [("--all", "--json"), ("--all",), ()])
def test_a_lake_that_is_read_in_parts_is_shown_as_one_that_is_read_at_once(lake, capsys, monkeypatch, words):
    status = ("status", "--lake", str(lake), *words)
    at_once = shown(capsys, *status)
    # Some buckets together, and one cut by digests.
    monkeypatch.setattr(slices, "ROWS_OF_A_SLICE", 12)
    found = delta_rs.open_delta_rs(Location.lake(str(lake))).slices(("quarantine", "namespace_state"))
    assert len(found) > 16
    assert any("IN" in each for each in found)
    assert any("BETWEEN" in each for each in found)
    assert shown(capsys, *status) == at_once


@pytest.mark.large
def test_rows_are_cut_by_buckets_and_where_one_is_too_large_by_a_digest(monkeypatch):
    monkeypatch.setattr(slices, "ROWS_OF_A_SLICE", 10)
    assert slices.slices_of({}) == slices.slices_of({0: 4, 1: 6}) == [None]
    assert slices.slices_of({0: 4, 1: 6, 2: 5, 9: 5}) == ["bucket IN (0, 1)", "bucket IN (2, 9)"]
    assert slices.slices_of({0: 4, 1: 21, 2: 6}) == [
        "bucket = 1 AND substr(md5(namespace), 1, 4) BETWEEN '0000' AND '5554'",
        "bucket = 1 AND substr(md5(namespace), 1, 4) BETWEEN '5555' AND 'aaa9'",
        "bucket = 1 AND substr(md5(namespace), 1, 4) BETWEEN 'aaaa' AND 'ffff'",
        "bucket IN (0, 2)",
    ]
    # However large a lake is, its slices are not too many to be merged.
    assert len(slices.slices_of(dict.fromkeys(range(65_536), 1_000))) <= 2 * slices.MOST_SLICES


@pytest.mark.large
def test_the_slices_of_many_small_buckets_cost_a_few_additions_each():
    class Rows(int):
        """A number of rows that is added only so often."""

        additions = 0

        def __add__(self, other):
            Rows.additions += 1
            assert Rows.additions <= 4 * 65_536
            return Rows(int(self) + int(other))

        __radd__ = __add__

    found = slices.slices_of({bucket: Rows(3) for bucket in range(65_536)})
    assert found == ["bucket BETWEEN 0 AND 33332", "bucket BETWEEN 33333 AND 65535"]


@pytest.mark.large
def test_no_slice_of_many_buckets_is_a_long_list_since_delta_rs_crashes_over_it(lake):
    found = slices.slices_of(dict.fromkeys(range(0, 65_536, 2), 3) | {3: 150_000, 5: 1, 7: 150_000})
    assert found[-1] == "bucket BETWEEN 0 AND 65534 AND NOT bucket IN (3, 7)"
    query = f"SELECT DISTINCT bucket FROM namespace_state WHERE {found[-1]} ORDER BY bucket"
    rows = delta_rs.open_delta_rs(Location.lake(str(lake))).query(query, ("namespace_state",))
    assert [row["bucket"] for row in rows] == [0, 1, 2, 4, 5, 6]


@pytest.mark.parametrize("rows", [1_000, 100_000, 100_001, 6_400_000, 10**9])
def test_the_slices_are_few_and_each_namespace_is_in_one_of_them(rows):
    for buckets in range(1, 257):
        found = slices.slices_of(dict.fromkeys(range(buckets), rows))
        assert len(found) <= 2 * slices.MOST_SLICES
        if found == [None]:
            continue
        covered = [0] * buckets
        for condition in found:
            if together := re.fullmatch(r"bucket IN \(([0-9, ]+)\)", condition):
                for bucket in together[1].split(", "):
                    assert covered[int(bucket)] == 0
                    covered[int(bucket)] = 16**4
            else:
                bucket, first, last = CUT.fullmatch(condition).groups()
                assert covered[int(bucket)] == int(first, 16)
                covered[int(bucket)] = int(last, 16) + 1
        assert covered == [16**4] * buckets


def test_spooled_rows_come_back_in_order_as_often_as_wanted():
    rows = SpooledRows()
    rows.add_part([("a", {"n": 1}), ("c", {"n": 3})])
    rows.add_part([("b", {"n": 2}), ("d", {"n": "tab\tand\nend"})])
    for _ in range(2):
        assert [row["n"] for row in rows] == [1, 2, 3, "tab\tand\nend"]
    assert len(rows) == 4
    report = json.loads(Report("status", "r", members={"rows": rows, "more": [1]}).to_json())
    assert ([row["n"] for row in report["rows"]][:3], report["more"]) == ([1, 2, 3], [1])


def peak(tmp_path: Path, *words: str) -> int:
    """The most memory that a command takes, in bytes."""
    # What the kernel calls the greatest memory of a process includes that of the one which started it; VmHWM does not.
    code = (
        "import sys; from strandline.cli import main; code = main(sys.argv[1:]);"
        "[peak] = [line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')];"
        "print(int(peak) * 1024, file=sys.stderr); sys.exit(code)"
    )
    with (tmp_path / "out").open("w") as out:
        done = subprocess.run(
            [sys.executable, "-c", code, *words], stdout=out, stderr=subprocess.PIPE, text=True, check=True,
            env={**os.environ, "MALLOC_ARENA_MAX": "2"},
        )  # fmt: skip
    return int(done.stderr)


@pytest.mark.slow
def test_a_million_rejected_namespaces_are_shown_in_the_memory_of_some_thousands(tmp_path):
    lake = empty_lake(tmp_path / "lake")
    rejected_namespaces(lake, 1_000_000)
    assert peak(tmp_path, "status", "--all", "--json", "--lake", str(lake)) < 300 * MEGABYTE
    assert (tmp_path / "out").read_bytes().count(b'"namespace":') == 1_000_000
    assert peak(tmp_path, "status", "--lake", str(lake)) < 300 * MEGABYTE
    one = sha256(b"7").hexdigest()
    for given in (one, one[:12]):
        assert peak(tmp_path, "status", given, "--json", "--lake", str(lake)) < 300 * MEGABYTE
        [row] = json.loads((tmp_path / "out").read_text())["rows"]
        assert row["namespace"] == f"node:{one}"
