"""The wheel asks for no Spark: what needs none runs, what needs it says how to get it."""

import json
import subprocess
import sys

import pytest

from strandline import cli
from support.delta_rs_lake import empty_lake, state, write

WITHOUT = """
import sys
for name in ("pyspark", "delta", "py4j"):
    sys.modules[name] = None
from strandline.cli import run
sys.argv[0] = "strandline"
run()
"""


def _run(*words):
    return subprocess.run(
        [sys.executable, "-c", WITHOUT, *words], capture_output=True, text=True, check=False, timeout=60
    )


@pytest.fixture
def lake(tmp_path):
    lake = empty_lake(tmp_path / "lake")
    write(lake, "namespace_state", [state("node:1")])
    return str(lake)


@pytest.mark.large
def test_what_reads_with_delta_rs_runs_without_spark(lake):
    done = _run("status", "--lake", lake, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["rows"][0]["namespace"] == "node:1"
    assert _run("explain", "JSON_INVALID").returncode == 0


@pytest.mark.large
@pytest.mark.parametrize(
    "words", [("reduce",), ("check",), ("init",), ("maintain", "--dry-run")], ids=" ".join
)
def test_what_needs_spark_says_how_to_get_it(lake, words):
    done = _run(*words, "--lake", lake, "--json", "--quiet")
    assert (done.returncode, done.stderr) == (3, "")
    error = json.loads(done.stdout)["error"]
    assert error["code"] == "SPARK_MISSING"
    assert "pip install 'WHEEL[spark]'" in error["next"]


@pytest.mark.parametrize("code", [0, 1, 2, 3, 130])
def test_the_entry_point_of_the_wheel_ends_the_process_only_with_a_code_that_is_not_0(monkeypatch, code):
    monkeypatch.setattr(cli, "main", lambda: code)
    if code == 0:
        assert cli.run() is None
        return
    with pytest.raises(SystemExit) as ended:
        cli.run()
    assert ended.value.code == code
