"""Notebooks: Databricks' source format, the Jupyter file beside it, a picture and three queries at the end."""

import ast
import json
import re

import pytest

from strandline.contracts.quoting import is_legal_name
from support.notebooks import NOTEBOOKS, as_jupyter, cells

EACH = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
IN_SCHEMAS = {path.stem: path for path in NOTEBOOKS if path.stem != "kill_replay_count"}
"""The notebooks that run on Databricks, too: their lakes can be in schemas."""


def test_there_are_notebooks():
    assert [path.stem for path in NOTEBOOKS] == ["damaged_fleet", "kill_replay_count", "replicas"]


@EACH
def test_the_jupyter_file_has_the_same_cells(path):
    assert path.with_suffix(".ipynb").read_text(encoding="utf-8") == as_jupyter(path), "run `make notebooks`"
    found = json.loads(as_jupyter(path))
    assert (found["nbformat"], found["nbformat_minor"]) == (4, 5)
    names = [each["id"] for each in found["cells"]]
    assert len(set(names)) == len(names)


@EACH
def test_it_begins_with_words_and_ends_in_a_picture_and_three_queries(path):
    found = cells(path)
    assert found[0][0] == "markdown"
    assert found[0][1].startswith("# ")
    *_, picture, title, first, second, third = found
    assert "matplotlib.pyplot" in picture[1]
    assert picture[1].endswith("\nfigure")
    assert title == ("markdown", "## Three queries to try")
    for kind, text in (first, second, third):
        assert kind == "code"
        assert ".sql(" in text
    assert "```" not in "".join(text for kind, text in found if kind == "markdown")


@EACH
def test_the_first_code_says_what_is_not_installed_before_anything_is_imported(path):
    codes = [text for kind, text in cells(path) if kind == "code"]
    for package in ("strandline", "pyspark", "matplotlib"):
        without = codes[0].replace("find_spec(name) is None", f"name == '{package}'")
        with pytest.raises(SystemExit, match=f"not installed: {package}. Run: pip install") as missing:
            exec(compile(without, path.name, "exec"), {})
        # A cluster of Databricks has its own Spark and Delta.
        assert ("on Databricks: %pip install 'WHEEL[notebook]'" in str(missing.value)) == (
            path.stem in IN_SCHEMAS
        )
    for version in ("3.5.1", "4.0.0"):
        older = codes[0].replace('import_module("pyspark").__version__', f"'{version}'")
        with pytest.raises(
            SystemExit, match=rf"needs Spark 4\.1 or later, this is {version}\..* Run: pip install"
        ):
            exec(compile(older, path.name, "exec"), {})
    imported = {
        (node.module or "").partition(".")[0]
        if isinstance(node, ast.ImportFrom)
        else alias.name.partition(".")[0]
        for node in ast.walk(ast.parse(codes[0]))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert imported == {"importlib"}


@pytest.mark.parametrize("path", IN_SCHEMAS.values(), ids=IN_SCHEMAS)
def test_its_words_name_the_variables_that_its_code_reads(path):
    words = "\n".join(text for kind, text in cells(path) if kind == "markdown")
    code = "\n".join(text for kind, text in cells(path) if kind == "code")
    read = set(re.findall(r'environ\.get\("(\w+)"', code))
    assert read == {"NOTEBOOK_FOLDER", "NOTEBOOK_SCHEMA"} == set(re.findall(r"`(NOTEBOOK_\w+)`", words))


@pytest.mark.parametrize("path", IN_SCHEMAS.values(), ids=IN_SCHEMAS)
def test_its_lakes_are_in_schemas_where_one_is_named_and_else_in_folders(path, monkeypatch, tmp_path):
    code = "\n".join(text for kind, text in cells(path) if kind == "code")
    assert set(re.findall(r"strandline\.open\((.)", code)) == {"*"}
    monkeypatch.setenv("NOTEBOOK_FOLDER", str(tmp_path))
    asked = []

    def opened(**place):
        asked.append(place)
        raise InterruptedError

    monkeypatch.setattr("strandline.open", opened)
    for schema in ("main.demo", ""):
        monkeypatch.setenv("NOTEBOOK_SCHEMA", schema)
        with pytest.raises(InterruptedError):
            exec(compile(code, path.name, "exec"), {})
    name = asked[0]["schema"].removeprefix("main.demo_")
    assert asked == [{"schema": f"main.demo_{name}"}, {"path": tmp_path / name}]
    assert is_legal_name(name)
