"""Rows of a query as JSON values: without rounding, and independent of this machine's time zone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import pyarrow as pa

from strandline.core.errors import UsageError
from strandline.pipelines.report import utc_text


def json_rows(found: pa.Table) -> list[list[Any]]:
    """Return the rows as lists of JSON values, in the order of the columns; names can be repeated."""
    columns = [
        [json_value(value, field.type) for value in found.column(at).to_pylist()]
        for at, field in enumerate(found.schema)
    ]
    return [list(row) for row in zip(*columns, strict=True)]


def check_names(columns: Sequence[str]) -> None:
    """Raises: UsageError QUERY_INVALID unless every column has a name of its own, which rows as JSON objects need."""
    repeated = next((name for at, name in enumerate(columns) if name in columns[at + 1 :]), None)
    if repeated is not None:
        raise UsageError(
            "QUERY_INVALID",
            f"several columns have the name {repeated}, and a JSON object has a name once",
            "name each column, for example `SELECT x AS first, y AS second`",
        )


def json_value(value: Any, kind: pa.DataType) -> Any:
    """Return a value of the type `kind` as JSON.

    Binary is lower-case hex, a decimal is text, a timestamp ISO 8601 in UTC (`..Z`; without a zone if it has none), a
    number that JSON lacks (`nan`, `inf`) is text, a map and a struct are objects.
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, datetime):
        return value.isoformat() if value.tzinfo is None else utc_text(value)
    if isinstance(value, date | time):
        return value.isoformat()
    if pa.types.is_map(kind):
        return {str(json_value(key, kind.key_type)): json_value(item, kind.item_type) for key, item in value}
    if pa.types.is_struct(kind):
        return {field.name: json_value(value[field.name], field.type) for field in kind}
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return [json_value(each, kind.value_type) for each in value]
    return str(value)
