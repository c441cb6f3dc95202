"""Rows of a query in a file: every value as it is, in each format."""

from pathlib import Path

import pyarrow as pa
import pytest

from strandline.cli.show import write_rows
from strandline.pipelines.report import Report
from strandline.pipelines.sql.values import json_rows

ROWS = pa.table(
    {
        "price": pa.array(["-1.50"]).cast(pa.decimal128(3, 2)),
        "low": [float("-inf")],
        "items": [[1, None]],
        "pair": [{"b": True, "a": "é"}],
    }
)


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("table", 'price  low   items      pair\n-1.50  -inf  [1, null]  {"a": "\\u00e9", "b": true}\n'),
        ("csv", 'price,low,items,pair\n-1.50,-inf,"[1, null]","{""a"": ""\\u00e9"", ""b"": true}"\n'),
        (
            "json",
            '{"price": "-1.50", "low": "-inf", "items": [1, null], "pair": {"b": true, "a": "\\u00e9"}}\n',
        ),
    ],
)
def test_a_file_has_numbers_as_they_are_and_nested_values_as_json(
    tmp_path: Path, form: str, text: str
) -> None:
    members = {"columns": ROWS.column_names, "rows": json_rows(ROWS), "truncated": False}
    write_rows(Report("sql", "r", members=members), form, tmp_path / "rows")
    assert (tmp_path / "rows").read_text(encoding="utf-8") == text
