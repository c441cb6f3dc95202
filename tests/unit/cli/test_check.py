"""What `check` prints: a line for each check, then what is broken, with the rows."""

import io

from rich.console import Console

from strandline.cli import show
from strandline.pipelines.report import Report


def printed(checks, broken) -> list[str]:
    report = Report(
        "check", "r", lake="/lake", seconds=2.0, counts={"checks": len(checks), "broken": len(broken)},
        members={"checks": checks, "broken": broken},
    )  # fmt: skip
    out = io.StringIO()
    show.check(Console(file=out, soft_wrap=True, highlight=False, markup=False), report)
    return out.getvalue().splitlines()


def entry(check, *tables, holds=True):
    return {"check": check, "tables": list(tables), "holds": holds}


def test_a_sound_lake_is_a_line_for_each_check_by_name():
    checks = [*(entry("keys_are_unique", table) for table in "abcd"), entry("pairs_agree", "a", "b")]
    assert printed(checks, []) == [
        "check /lake, 2.0 s",
        "ok      keys_are_unique  4 tables",
        "ok      pairs_agree  a, b",
        "5 checks, 0 broken",
    ]


def test_a_broken_check_is_named_with_its_table_and_its_first_rows():
    checks = [
        entry("keys_are_unique", "a", holds=False),
        entry("keys_are_unique", "b"),
        entry("pairs_agree", "a", "b"),
    ]
    rows = [{"namespace": "n\x1b[31m", "row_count": 2}, '{"cut": "' + "x" * 400]
    broken = [{**entry("keys_are_unique", "a"), "description": "Keys twice.", "rows": rows, "more": True}]
    lines = printed(checks, broken)
    assert lines[1:3] == ["BROKEN  keys_are_unique  a", "ok      pairs_agree  a, b"]
    assert lines[3:] == [
        "",
        "keys_are_unique is broken in a",
        "  Keys twice.",
        '  {"namespace": "n\\u001b[31m", "row_count": 2}',
        '  {"cut": "' + "x" * 291 + "…",
        "  and more rows",
        "3 checks, 1 broken",
    ]
