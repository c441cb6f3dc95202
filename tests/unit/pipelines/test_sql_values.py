"""Rows of a query as JSON values, and Spark's words for a query that it does not take."""

from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal

import pyarrow as pa
import pytest

from strandline.core.errors import UsageError
from strandline.pipelines.sql.query import first_sentence, query_errors
from strandline.pipelines.sql.values import check_names, json_rows

EAST = timezone(timedelta(hours=2))


@pytest.mark.parametrize(
    ("value", "kind", "shown"),
    [
        (None, pa.int64(), None),
        (True, pa.bool_(), True),
        (2**63 - 1, pa.int64(), 2**63 - 1),
        (1.5, pa.float64(), 1.5),
        (float("nan"), pa.float64(), "nan"),
        (float("-inf"), pa.float64(), "-inf"),
        (b"\x00\xff", pa.binary(), "00ff"),
        (Decimal(18446744073709551615), pa.decimal128(20, 0), "18446744073709551615"),
        (Decimal("0.00"), pa.decimal128(3, 2), "0.00"),
        (datetime(2026, 1, 31, 11, 30, tzinfo=EAST), pa.timestamp("us", tz="UTC"), "2026-01-31T09:30:00Z"),
        (datetime(2026, 1, 31, 9, 30, tzinfo=UTC), pa.timestamp("us", tz="Europe/Berlin"), "2026-01-31T09:30:00Z"),
        (datetime(2026, 1, 31, 9, 30), pa.timestamp("us"), "2026-01-31T09:30:00"),  # noqa: DTZ001 - has no zone
        (date(2026, 1, 31), pa.date32(), "2026-01-31"),
        (time(9, 30), pa.time64("us"), "09:30:00"),
        (timedelta(days=1), pa.duration("us"), "1 day, 0:00:00"),
        ([b"\x01", None], pa.list_(pa.binary()), ["01", None]),
        ({"n": 1, "id": b"\x01"}, pa.struct([("n", pa.int64()), ("id", pa.binary())]), {"n": 1, "id": "01"}),
        ([(1, b"\x01")], pa.map_(pa.int64(), pa.binary()), {"1": "01"}),
        ([], pa.map_(pa.string(), pa.int64()), {}),
    ],
)  # fmt: skip
def test_each_type_has_one_json_form(value: object, kind: pa.DataType, shown: object) -> None:
    assert json_rows(pa.table([pa.array([value], kind)], names=["a"])) == [[shown]]


def test_columns_may_have_one_name() -> None:
    found = pa.table([pa.array([1, 2]), pa.array(["x", "y"])], names=["a", "a"])
    assert json_rows(found) == [[1, "x"], [2, "y"]]


def test_rows_as_json_objects_have_a_name_for_each_column() -> None:
    check_names(["n", "N"])
    with pytest.raises(UsageError) as told:
        check_names(["b", "n", "a", "n", "b"])
    assert (told.value.code, told.value.message) == (
        "QUERY_INVALID",
        "several columns have the name b, and a JSON object has a name once",
    )
    assert told.value.next == "name each column, for example `SELECT x AS first, y AS second`"


BROKEN = pa.Array.from_buffers(
    pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0"), pa.py_buffer(b"\xff")]
)
"""A text of one byte that is not UTF-8, as Spark gives it for CAST(X'FF' AS STRING)."""


@pytest.mark.parametrize(
    "column", [BROKEN, pa.ListArray.from_arrays([0, 1], BROKEN)], ids=["text", "in a list"]
)
def test_a_text_that_is_not_utf8_is_refused_with_the_functions_that_show_it(column: pa.Array) -> None:
    with pytest.raises(UsageError) as told, query_errors():
        json_rows(pa.table([column], names=["a"]))
    assert (told.value.code, told.value.message) == (
        "QUERY_INVALID",
        "the rows hold a text that is not UTF-8",
    )
    assert told.value.next == "show it with make_valid_utf8(x) or hex(x)"


def test_no_rows_are_no_rows() -> None:
    assert json_rows(pa.table([pa.array([], pa.int64())], names=["a"])) == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "\n[PARSE_SYNTAX_ERROR] Syntax error at or near 'SELEC'. SQLSTATE: 42601 (line 1, pos 0)\n\n== SQL ==\n",
            "Syntax error at or near 'SELEC' (line 1, position 1)",
        ),
        (
            "[UNRESOLVED_COLUMN] A column `a` cannot be resolved. SQLSTATE: 42703; line 2 pos 7;\n'Project ['a]",
            "A column `a` cannot be resolved (line 2, position 8)",
        ),
        (
            "[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012\n== SQL (line 1, position 8) ==\nSELECT 1/0",
            "Division by zero (line 1, position 8)",
        ),
        ("[USER_RAISED_EXCEPTION] x SQLSTATE: P0001", "x"),
    ],
)  # fmt: skip
def test_spark_is_told_in_one_line_with_the_place(text: str, shown: str) -> None:
    assert first_sentence(text) == shown
