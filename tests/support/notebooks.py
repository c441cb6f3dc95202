"""Notebooks in Databricks' source format, as cells, and as the Jupyter files that are kept beside them.

python -m support.notebooks    writes notebooks/*.ipynb
"""

import hashlib
import json
from pathlib import Path

from support.packaged import ROOT

HEADER = "# Databricks notebook source\n"
BETWEEN = "\n\n# COMMAND ----------\n\n"
MARKDOWN = "# MAGIC %md\n"
NOTEBOOKS = tuple(sorted((ROOT / "notebooks").glob("*.py")))


def cells(path: Path) -> list[tuple[str, str]]:
    """The kind and the text of each cell: `markdown` or `code`."""
    source = path.read_text(encoding="utf-8")
    assert source.startswith(HEADER), path
    return [_cell(text) for text in source.removeprefix(HEADER).rstrip("\n").split(BETWEEN)]


def _cell(text: str) -> tuple[str, str]:
    if not text.startswith(MARKDOWN):
        return "code", text
    lines = text.removeprefix(MARKDOWN).split("\n")
    assert all(line.startswith("# MAGIC") for line in lines), text
    return "markdown", "\n".join(line.removeprefix("# MAGIC").removeprefix(" ") for line in lines).strip("\n")


def as_jupyter(path: Path) -> str:
    """The notebook as a file of Jupyter, without outputs."""
    found = []
    for number, (kind, text) in enumerate(cells(path)):
        name = hashlib.sha256(f"{path.stem}/{number}".encode()).hexdigest()[:8]
        code = {"execution_count": None, "outputs": []} if kind == "code" else {}
        found.append(
            {"cell_type": kind, "id": name, "metadata": {}, **code, "source": text.splitlines(keepends=True)}
        )
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole = {"cells": found, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for each in NOTEBOOKS:
        each.with_suffix(".ipynb").write_text(as_jupyter(each), encoding="utf-8")
