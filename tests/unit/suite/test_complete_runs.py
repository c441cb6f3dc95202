"""A run of the tests in CI fails if it left something out; a test that hangs ends."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.tiers import TIERS

pytestmark = pytest.mark.large
TESTS = Path(__file__).parents[2]
SETTINGS = """\
[pytest]
testpaths = tests
addopts = -p no:cacheprovider --strict-markers -m 'not slow and not node and not s3'
markers =
    slow: of the slow tier
    node: needs node
    s3: needs a server
"""
PASSES = "def test_it():\n    pass\n"
SKIPS = "import pytest\n\ndef test_it():\n    pytest.skip('not today')\n"
FAILS_AS_EXPECTED = "import pytest\n\n@pytest.mark.xfail\ndef test_it():\n    assert False\n"
IS_SLOW = (
    "import pytest\n\n@pytest.mark.slow\n@pytest.mark.parametrize('k', range(5))\ndef test_it(k):\n    pass\n"
)
HANGS = "import pytest, time\n\n@pytest.mark.timeout(0.2)\ndef test_it():\n    time.sleep(60)\n"


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A suite of one test that passes in each tier."""
    (tmp_path / "pytest.ini").write_text(SETTINGS)
    for tier in TIERS:
        write(tmp_path, tier, PASSES)
    (tmp_path / "tests" / "conftest.py").write_text("pytest_plugins = ('support.complete_runs',)\n")
    return tmp_path


def write(suite: Path, tier: str, text: str) -> None:
    path = suite / "tests" / tier / f"test_{tier}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def run(suite: Path, *words: str, ci: str = "true") -> tuple[int, list[str]]:
    """The exit code and the lines of a run."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    plugins = ("-p", "pytest_timeout", *(("-p", "xdist.plugin") if "-n" in words else ()))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *plugins, *words],
        cwd=suite, capture_output=True, text=True, check=False,
        env=environ | {"CI": ci, "PYTHONPATH": str(TESTS), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )  # fmt: skip
    return done.returncode, done.stdout.splitlines()


def test_a_run_of_all_that_there_is_passes_and_ends_on_the_closing_line(suite: Path) -> None:
    code, lines = run(suite)
    assert (code, lines[-1].partition(" in ")[0]) == (0, f"{len(TIERS)} passed")


def test_tests_left_out_and_empty_tiers_fail_in_ci_alone(suite: Path) -> None:
    for tier, text in {"delta": SKIPS, "jobs": FAILS_AS_EXPECTED, "laws": "", "spark": IS_SLOW}.items():
        write(suite, tier, text)
    expected = {
        "ERROR skipped: tests/delta/test_delta.py::test_it",
        "ERROR xfailed: tests/jobs/test_jobs.py::test_it",
        *(f"ERROR no test passed in tests/{tier}" for tier in ("delta", "jobs", "laws", "spark")),
    }
    code, lines = run(suite, "-n", "2")
    assert (code, {line for line in lines if line.startswith("ERROR")}) == (1, expected)
    assert lines[-1].startswith(f"{len(TIERS) - 4} passed, 1 skipped, 1 xfailed")
    assert run(suite, ci="")[0] == 0


def test_the_parts_of_the_slow_tier_run_it_once_and_an_empty_part_fails(suite: Path) -> None:
    write(suite, "delta", IS_SLOW)
    closing = []
    for part in ("1/2", "2/2"):
        code, lines = run(suite, "-m", "slow", "--part", part)
        closing.append((code, lines[-1].partition(", ")[0]))
    assert closing == [(0, "3 passed"), (0, "2 passed")]
    assert run(suite, "-m", "slow", "--part", "6/6")[0] == pytest.ExitCode.NO_TESTS_COLLECTED


def test_a_test_that_hangs_fails_and_the_others_run(suite: Path) -> None:
    write(suite, "delta", HANGS)
    code, lines = run(suite)
    assert (code, lines[-1].partition(" in ")[0]) == (1, f"1 failed, {len(TIERS) - 1} passed")
    assert any("Timeout" in line for line in lines)
