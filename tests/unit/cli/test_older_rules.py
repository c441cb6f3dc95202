"""What was judged by older rules is told with the command that judges it again."""

import io

import pytest
from rich.console import Console

from strandline.cli import main
from strandline.cli.show.reports import ingest
from strandline.pipelines.report import Report

COUNTS = dict.fromkeys(("read", "new", "known", "rejected", "deferred"), 0)


@pytest.mark.parametrize("rows", [0, 1_200])
def test_records_that_older_rules_judged_are_counted_with_what_judges_them_again(rows):
    out = io.StringIO()
    members = {"judged_by_older_rules": rows} if rows else {}
    ingest(
        Console(file=out, soft_wrap=True),
        Report("ingest", "run", lake="/data/lake", counts=COUNTS, members=members),
    )
    said = (
        "older rules judged 1,200 records in quarantine; judge again: "
        "`strandline ingest --from-quarantine --dialect NAME --lake /data/lake`"
    )
    assert (said in out.getvalue()) == bool(rows)


@pytest.mark.parametrize(
    ("members", "chosen", "said"),
    [
        ({}, {"namespace": "node:9"}, None),
        ({"replayed": {"BOMB": {"rows": 1, "unchanged": 1}}}, {"namespace": "node:9"}, None),
        ({"replayed": {}}, {}, "is in quarantine"),
        ({"replayed": {}}, {"namespace": "node:\x1b9", "reason": None}, "has the namespace node:\\x1b9"),
        ({"replayed": {}}, {"namespace": "a", "reason": "BOMB"}, "has the namespace a and the reason BOMB"),
    ],
)
def test_a_choice_that_no_rejected_record_fits_is_said(members, chosen, said):
    out = io.StringIO()
    report = Report("ingest", "run", lake="/data/lake", counts=COUNTS, members=members)
    ingest(Console(file=out, soft_wrap=True), report, chosen)
    lines = [line for line in out.getvalue().splitlines() if "judged again" in line]
    whole = f"nothing was judged again: no rejected record with all its bytes {said}"
    assert lines == ([] if said is None else [whole])


@pytest.mark.parametrize(("code", "automatic"), [("IDENTITY_MISSING", True), ("INTERNAL_ERROR", False)])
def test_only_what_waits_for_another_record_is_said_to_be_admitted_automatically(capsys, code, automatic):
    assert main(["explain", code]) == 0
    printed = capsys.readouterr().out
    assert "Waits for: " in printed
    assert ("is admitted automatically" in printed) == automatic
