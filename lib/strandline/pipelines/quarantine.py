"""`quarantine`: rejected and waiting records by reason, each with an example, or one complete record."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from strandline.contracts.reasons import reasons
from strandline.core.errors import UsageError
from strandline.pipelines.report import Report, as_json
from strandline.pipelines.run_context import RunContext
from strandline.tables.read_lake import binary_literal

if TYPE_CHECKING:
    from strandline.tables.read_lake import ReadLake

_SHOWN = (
    "quarantine_id", "namespace", "dialect", "scope", "status", "reasons", "record_id", "raw", "raw_sha256",
    "raw_bytes", "raw_whole", "waits_for", "evidence", "rules_version", "source", "source_offset", "first_seen",
    "last_seen", "times_seen", "first_run", "last_run",
)  # fmt: skip
TABLES = ("quarantine",)
# One row for each list of reasons and status, with the record seen last. Both engines cast a list to the same text, but
# they unnest lists with different syntax.
BY_REASON_SQL = """
SELECT codes, status, count, quarantine_id, namespace, source, source_offset, last_seen
FROM (
  SELECT
    *,
    count(*) OVER (PARTITION BY codes, status) AS count,
    row_number() OVER (PARTITION BY codes, status ORDER BY last_seen DESC, quarantine_id) AS place
  FROM (
    SELECT CAST(reasons AS STRING) AS codes, status, quarantine_id, namespace, source, source_offset, last_seen
    FROM quarantine
  ) AS spelled
) AS ranked
WHERE place = 1
"""
TOTALS_SQL = """
SELECT
  sum(CASE WHEN scope = 'record' AND status = 'rejected' THEN 1 ELSE 0 END) AS rejected,
  sum(CASE WHEN scope = 'record' AND status = 'deferred' THEN 1 ELSE 0 END) AS deferred,
  count(DISTINCT namespace) AS namespaces
FROM quarantine
"""
_ID_BYTES = 32


def listing(lake: "ReadLake", context: RunContext) -> Report:
    """Return the number of records in the quarantine by reason, most frequent first, each with its newest example."""
    entries = _by_reason(lake.query(BY_REASON_SQL, TABLES))
    counted: dict[str, int] = {}
    for entry in entries:
        counted[entry["code"]] = counted.get(entry["code"], 0) + entry["count"]
    [totals] = lake.query(TOTALS_SQL, TABLES)
    return context.report(
        lake.location.describe(),
        counts={name: totals[name] or 0 for name in ("rejected", "deferred")},
        reasons=counted,
        namespaces=totals["namespaces"],
        members={"by_reason": entries},
    )


def show(lake: "ReadLake", given: str, context: RunContext) -> Report:
    """Return one record of the quarantine: bytes as hex, reasons in words, evidence.

    Raises: UsageError `ID_INVALID` (not hex digits, more than 64), `ID_UNKNOWN`, `ID_AMBIGUOUS` (a prefix of several).
    """
    low, high = id_range(given)
    found = lake.query(show_sql(low, high), TABLES)
    if not found:
        raise UsageError(
            "ID_UNKNOWN",
            f"no record in quarantine has an id that starts with {given}",
            "`strandline quarantine` lists ids",
        )
    if len(found) > 1:
        first, second, *more = (row["quarantine_id"].hex() for row in found)
        others = ", among others" if more else ""
        raise UsageError(
            "ID_AMBIGUOUS", f"{given} matches {first} and {second}{others}", "give more of its digits"
        )
    return context.report(
        lake.location.describe(),
        members={"record": _record(found[0])},
    )


def id_range(given: str) -> tuple[bytes, bytes]:
    """Return the least and the greatest id with the prefix `given`, in hex digits. Raises: UsageError `ID_INVALID`."""
    if not is_id(given):
        raise UsageError(
            "ID_INVALID",
            f"{given!r} is not an id of up to 64 hex digits",
            "`strandline quarantine` lists ids",
        )
    digits = given.strip().lower()
    return bytes.fromhex(digits.ljust(2 * _ID_BYTES, "0")), bytes.fromhex(digits.ljust(2 * _ID_BYTES, "f"))


def is_id(given: str) -> bool:
    """Return whether `given` can be an id or its prefix: up to 64 hex digits."""
    digits = given.strip().lower()
    return 0 < len(digits) <= 2 * _ID_BYTES and not set(digits) - set("0123456789abcdef")


def show_sql(low: bytes, high: bytes) -> str:
    """Return the query of up to three records with ids from `low` to `high`: several make a prefix ambiguous."""
    between = f"quarantine_id BETWEEN {binary_literal(low)} AND {binary_literal(high)}"
    return f"SELECT {', '.join(_SHOWN)} FROM quarantine WHERE {between} ORDER BY quarantine_id LIMIT 3"


def _by_reason(groups: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return code, words, status, count and example for each (code, status); the example is the record seen last.

    `groups` are the rows of `BY_REASON_SQL`: one for each status and list of reasons (`[A, B]`).
    """
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for group in groups:
        for code in group["codes"].strip("[]").split(", "):
            entry = found.setdefault((code, group["status"]), {"count": 0, "example": group})
            entry["count"] += group["count"]
            if group["last_seen"] > entry["example"]["last_seen"]:
                entry["example"] = group
    ordered = sorted(found.items(), key=lambda item: (-item[1]["count"], item[0]))
    return [
        _words(code)
        | {
            "status": status,
            "count": entry["count"],
            "example": {
                name: as_json(entry["example"][name])
                for name in ("quarantine_id", "namespace", "source", "source_offset")
            },
        }
        for (code, status), entry in ordered
    ]


def _words(code: str) -> dict[str, str]:
    """Return the meaning and advice of a code, also for a code that this version does not know."""
    known = reasons().get(code)
    if known is None:
        return {
            "code": code,
            "meaning": "this version does not know the code",
            "advice": "use a newer Strandline",
        }
    return {"code": code, "meaning": known.meaning, "advice": known.advice}


def _record(row: Mapping[str, Any]) -> dict[str, Any]:
    values = {name: as_json(row[name]) for name in _SHOWN}
    values["reasons"] = [_words(code) for code in row["reasons"]]
    values["evidence"] = _evidence(row["evidence"])
    return values


def _evidence(text: str | None) -> Any:
    """Return the evidence as JSON values; text that is not JSON is returned unchanged."""
    if text is None:
        return None
    try:
        return json.loads(text)
    except ValueError:
        return text
