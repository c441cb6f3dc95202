"""What `make` would run: nothing of it asks the network once the environments are there."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
MARKS = (".venv/.build", ".venv/.packages", ".venv/.product", ".venv/.test", ".venv-datacontract/.ready")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what make looks at, with environments that are newer than the lock files."""
    for path in (ROOT / "Makefile", ROOT / "pyproject.toml", *ROOT.glob("requirements*.lock")):
        shutil.copy(path, tmp_path)
        os.utime(tmp_path / path.name, (1, 1))
    for at, mark in enumerate(MARKS, start=2):
        (tmp_path / mark).parent.mkdir(exist_ok=True)
        (tmp_path / mark).touch()
        os.utime(tmp_path / mark, (at, at))
    return tmp_path


def made(checkout: Path, *words: str) -> list[str]:
    """The lines that `make` prints, also below a `make` that runs the tests."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    done = subprocess.run(
        ["make", *words], cwd=checkout, env=environ, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def would_run(checkout: Path, target: str) -> list[str]:
    """The lines that `make target` would run, but for those that only print."""
    return [line for line in made(checkout, "-n", target) if not line.startswith("echo")]


def asks_network(line: str) -> bool:
    return (
        any(word in line for word in ("pip", "curl", "wget", "git ", "uv ", "http:"))
        and "apt-get" not in line
    )


@pytest.mark.parametrize("target", ["demo", "quick", "test", "soak", "lint", "bench"])
def test_with_environments_as_new_as_their_locks_nothing_is_installed(checkout: Path, target: str) -> None:
    lines = would_run(checkout, target)
    assert any(".venv/bin/" in line for line in lines)
    assert [line for line in lines if asks_network(line)] == []


@pytest.mark.parametrize(
    "lock", ["requirements.lock", "requirements-test.lock", "requirements-contracts.lock"]
)
def test_a_newer_lock_is_installed_by_hash(checkout: Path, lock: str) -> None:
    os.utime(checkout / lock, (10, 10))
    [installs] = [line for line in would_run(checkout, "test") if asks_network(line) and lock in line]
    assert "--require-hashes" in installs


def test_make_help_lists_every_target_that_has_a_text(checkout: Path) -> None:
    makefile = (checkout / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([\w-]+):.* ## ", makefile, re.MULTILINE))
    assert {line.split()[1] for line in made(checkout, "help")} == targets


def test_all_that_a_fresh_checkout_installs_is_pinned_by_hash_or_the_checkout_itself(checkout: Path) -> None:
    for mark in MARKS:
        (checkout / mark).unlink()
    installs = [line for line in would_run(checkout, "test") if " install " in line and "apt-get" not in line]
    assert len(installs) == len(MARKS)
    assert [line for line in installs if "--require-hashes" not in line and "--no-index" not in line] == []


def test_the_site_has_an_environment_of_its_own_by_hash_and_is_made_offline(checkout: Path) -> None:
    mark = checkout / ".venv-docs" / ".ready"
    mark.parent.mkdir()
    mark.touch()
    os.utime(mark, (20, 20))
    assert [line for line in would_run(checkout, "docs") if asks_network(line)] == []
    os.utime(checkout / "requirements-docs.lock", (30, 30))
    [installs] = [line for line in would_run(checkout, "docs") if asks_network(line)]
    assert "--require-hashes" in installs
    assert "requirements-docs.lock" in installs
