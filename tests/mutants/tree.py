"""A copy of the checkout in which mutmut mutates: it asks for sources in `src`, and it changes files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

ROOT = Path(__file__).parents[2]
PARTS = (
    "core", "contracts", "dialects/sdmp/verify", "dialects/sdmp/reduce", "dialects/ipfslog/verify",
    "dialects/ipfslog/reduce", "dialects/aura/verify", "dialects/aura/reduce", "dialects/devicelog/verify",
    "dialects/devicelog/reduce",
)  # fmt: skip
"""What is mutated, below the package: what decides verdicts, states and the text of statements."""
TESTS = (
    "tests/unit/core", "tests/unit/contracts", "tests/unit/sdmp", "tests/unit/ipfslog", "tests/unit/aura",
    "tests/unit/devicelog", "tests/laws",
)  # fmt: skip
_ALSO = ("lib", "schemas", "conf", "docs", "jobs", "README.md")
_SETTINGS = """
[tool.mutmut]
source_paths = ["src/strandline"]
only_mutate = {mutated}
also_copy = {also}
pytest_add_cli_args = ["-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not slow and not large"]
pytest_add_cli_args_test_selection = {tests}
"""

_NAMES = r"""

def pytest_make_parametrize_id(config, val, argname):
    # pytest does not find a test again by an id that has a backslash, and mutmut asks for tests by their ids.
    text = val.decode("latin-1") if isinstance(val, bytes) else val if isinstance(val, str) else ""
    escaped = text.encode("unicode_escape").decode("ascii")
    return escaped.replace("\\", "/") if "\\" in escaped else None
"""

_COUNTS = """

def calls_of(function, *given, **more):
    import pytest

    pytest.skip("mutmut calls each function through one of its own, which counts, too")
"""


def make_tree(folder: Path) -> Path:
    """Copy what tests and mutants need into an empty `folder`, with mutmut's settings, and return it."""
    shutil.rmtree(folder, ignore_errors=True)
    without = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "lib" / "strandline", folder / "src" / "strandline", ignore=without)
    # The tests that read the sources read them unchanged, in `lib`.
    for name in ("tests", *_ALSO):
        path = ROOT / name
        if path.is_dir():
            shutil.copytree(path, folder / name, ignore=without)
        else:
            shutil.copy(path, folder / name)
    with (folder / "tests" / "conftest.py").open("a", encoding="utf-8") as hooks:
        hooks.write(_NAMES)
    with (folder / "tests" / "support" / "effort.py").open("a", encoding="utf-8") as effort:
        effort.write(_COUNTS)
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    pythonpath = 'pythonpath = ["lib", "tests"]'
    if pythonpath not in settings:
        raise ValueError(f"pyproject.toml no longer says {pythonpath}")
    mutated = [f"src/strandline/{part}/*" for part in PARTS]
    added = _SETTINGS.format(mutated=json.dumps(mutated), also=json.dumps(_ALSO), tests=json.dumps(TESTS))
    made = settings.replace(pythonpath, 'pythonpath = ["src", "tests"]') + added
    (folder / "pyproject.toml").write_text(made, encoding="utf-8")
    return folder


def part_of(mutant: str) -> str:
    """Return which of `PARTS` a mutant such as `strandline.core.ids.x_bucket_of__mutmut_3` is of."""
    place = mutant.removeprefix("strandline.").replace(".", "/") + "/"
    return next(part for part in PARTS if place.startswith(f"{part}/"))
