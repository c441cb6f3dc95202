"""Names in backticks on the pages: files, options, codes, settings, columns and members are those of the code."""

import ast
import importlib
import re
from functools import cache
from pathlib import Path

import pytest

from strandline.cli.app import commands
from strandline.config.settings import keys
from support.packaged import ROOT

LIB = ROOT / "lib" / "strandline"
SPOKEN = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").glob("*.md")]
PAGES = sorted([*SPOKEN, *(ROOT / "docs" / "decisions").glob("*.md")])
BELOW = (ROOT, ROOT / "docs", LIB, *(path for path in (LIB / "dialects").iterdir() if path.is_dir()))
"""Folders that a path on a page begins in: a decision about a dialect leaves out its folder."""
MADE = {"build/mutants/lived.txt"}
OF_OTHERS = {
    "AWS_SECRET_ACCESS_KEY", "AZURE_CLIENT_SECRET", "AZURE_TENANT_ID", "AsyncClient", "OPENLINEAGE_API_KEY",
    "PythonUtils", "RESOLVE_BENEATH", "disable_auto_optimization", "ingest_logs", "landing_logs", "prod_cluster",
    "table_changes",
}  # fmt: skip
"""Names of other programs, of what a reader adds to the bundle, and of what a decision threw away."""


@cache
def named(page: Path) -> tuple[str, ...]:
    """What a page has in backticks, without its blocks of code."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    return tuple(dict.fromkeys(re.findall(r"`([^`\n]+)`", text)))


@pytest.fixture(scope="module")
def words() -> set[str]:
    """Every word of the product, its tests and its examples, and the names of their files; not of this module."""
    folders = ("lib", "schemas", "conf", "jobs", "examples", "notebooks", "tests")
    kinds = {".py", ".sql", ".yaml", ".yml", ".conf"}
    files = {path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in kinds}
    files = (files | {ROOT / name for name in ("Makefile", "pyproject.toml", "databricks.yml")}) - {
        Path(__file__)
    }
    found = {path.stem for path in files}
    return found.union(*(re.findall(r"\w+", path.read_text("utf-8")) for path in files))


@pytest.fixture(scope="module")
def classes() -> dict[str, set[str]]:
    """The words of each class of the product, by its name."""
    found: dict[str, set[str]] = {}
    for path in LIB.rglob("*.py"):
        text = path.read_text("utf-8")
        lines = text.splitlines()
        for node in ast.parse(text).body:
            if isinstance(node, ast.ClassDef):
                body = "\n".join(lines[node.lineno : node.end_lineno])
                found.setdefault(node.name, set()).update(re.findall(r"\w+", body))
    return found


def test_files_that_pages_name_exist() -> None:
    form = re.compile(r"(?:[\w.-]+/)+[\w-]+\.(?:py|sql|ya?ml|md|jsonl?|conf|ipynb|j2)")
    paths = {(page.name, name) for page in PAGES for name in named(page) if form.fullmatch(name)} - {
        (page.name, made) for page in PAGES for made in MADE
    }
    assert len(paths) > 100
    assert [each for each in sorted(paths) if not any((root / each[1]).exists() for root in BELOW)] == []


def test_options_that_pages_name_exist() -> None:
    options = {option for each in commands().commands.values() for one in each.params for option in one.opts}
    found = {
        (page.name, option)
        for page in SPOKEN
        for name in named(page)
        if name.partition(" ")[0] in {"strandline", *commands().commands} or name.startswith("--")
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", name)
    }
    assert len(found) > 100
    foreign = {"--packages", "--var", "--help"}
    assert [each for each in sorted(found) if each[1] not in options | foreign] == []


@pytest.mark.large
def test_codes_columns_and_functions_that_pages_name_are_words_of_the_code(words: set[str]) -> None:
    found = {
        (page.name, name)
        for page in PAGES
        for name in named(page)
        if re.fullmatch(r"[A-Za-z]\w*_\w+|[A-Z][a-z]\w*", name)
    }
    assert len(found) > 500
    assert [
        each
        for each in sorted(found)
        if each[1] not in words | OF_OTHERS and each[1][:15] != "strandline_run_"
    ] == []


@pytest.mark.large
def test_members_that_pages_name_are_words_of_their_class(
    classes: dict[str, set[str]], words: set[str]
) -> None:
    found = [
        (page.name, match[1], match[2])
        for page in PAGES
        for name in named(page)
        if (match := re.fullmatch(r"([A-Z][a-z]\w*)\.([a-z_]\w*)", name))
    ]
    assert len(found) > 10
    absent = [each for each in found if each[1] not in classes and each[1] not in words]
    assert absent + [each for each in found if each[2] not in classes.get(each[1], {each[2]})] == []


def test_settings_that_pages_name_exist() -> None:
    sections = {key.partition(".")[0] for key in keys()}
    found = {
        (page.name, name)
        for page in SPOKEN
        for name in named(page)
        if re.fullmatch(r"[a-z]+\.(?!py$)[a-z_]+", name) and name.partition(".")[0] in sections
    }
    assert len(found) > 10
    assert [each for each in sorted(found) if each[1] not in keys()] == []


def test_functions_of_aura_that_its_pages_list_can_be_imported() -> None:
    rows = re.findall(
        r"^\| (`.+`) \| `(strandline\.[\w.]+)` \|$", (ROOT / "docs/aura.md").read_text("utf-8"), re.MULTILINE
    )
    listed = [(module, name) for names, module in rows for name in re.findall(r"`(\w+)`", names)]
    aura = "strandline.dialects.aura."
    for row in re.findall(
        r"^\| (`(?:reduce|author)\..+?`) \|", (ROOT / "docs/contexts.md").read_text("utf-8"), re.MULTILINE
    ):
        first, *others = re.findall(r"`([\w.]+)`", row)
        module, _, name = first.rpartition(".")
        listed += [(aura + module, each) for each in (name, *others)]
    assert len(listed) > 20
    assert [each for each in listed if not hasattr(importlib.import_module(each[0]), each[1])] == []
