"""Parts of reports for people."""

import io
import json
from types import SimpleNamespace

import pytest
from rich.console import Console

from strandline.cli import main, show
from strandline.cli.show import parts
from strandline.cli.show.quarantine import quarantine
from strandline.cli.show.sync import sync
from strandline.pipelines.quarantine import _SHOWN
from strandline.pipelines.report import Report, ReportError, TableChange
from support.delta_rs_lake import empty_lake


@pytest.mark.parametrize(
    ("rejected", "words"),
    [([2, 1], "2 files with rejected records"), ([2, 0], "2 files with rejected records or faults")],
)
def test_a_file_without_a_rejected_record_is_one_with_a_fault(rejected, words):
    files = [
        {
            "source": f"{count}",
            "reasons": "BAD_JSON" if count else "INTERNAL_ERROR",
            "rejected": count,
            "position": 1,
        }
        for count in rejected
    ]
    members = {"damaged_files": files, "damaged_files_total": len(files)}
    report = Report("ingest", "r", "ok", 0, 0.0, 0.0, "lake", members=members)
    console = Console(file=io.StringIO(), width=200)
    parts.damaged_files(console, report)
    assert console.file.getvalue().splitlines()[0] == words


@pytest.mark.large
def test_commands_of_a_next_step_name_the_lake_that_the_call_named(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ("lake", "other lake"):
        empty_lake(tmp_path / name)
        assert main(["quarantine", "show", "00", "--lake", name]) == 2
    named = f"--lake '{tmp_path}/other lake'"
    plain, of_other = [line for line in capsys.readouterr().err.splitlines() if line.startswith("next: ")]
    assert plain == "next: `strandline quarantine` lists ids."
    assert of_other == f"next: `strandline quarantine {named}` lists ids."
    assert main(["quarantine", "show", "00", "--lake", "other lake", "--json"]) == 2
    assert f"`strandline quarantine {named}`" in json.loads(capsys.readouterr().out)["error"]["next"]


def test_only_commands_on_a_lake_that_is_there_get_its_name():
    for text in (
        "`strandline ingest a --dialect sdmp`, `strandline sync --from PEER --to NEW`, `strandline explain X`",
        "`strandline init --lake /b` and `strandline status --help`, strandline status, `status`",
        "`strandline reduce --lake /b --full` or `strandline gc --schema a.b`",
    ):
        assert parts.commands_here(text, "/a") == text
    found = parts.commands_here("`strandline sql 'SELECT 1'`, else `strandline reduce --full`.", "main.lake")
    assert (
        found
        == "`strandline sql 'SELECT 1' --schema main.lake`, else `strandline reduce --full --schema main.lake`."
    )


def _said(show, *given) -> list[str]:
    console = Console(file=io.StringIO(), width=200)
    show(console, *given)
    return console.file.getvalue().splitlines()


def test_lists_that_are_cut_say_how_many_more_there_are():
    codes = [f"CODE_{number:02}" for number in range(12)]
    for shown, last in (
        (12, "  … and 2 more reasons: strandline quarantine --schema lake"),
        (11, "1 more reason:"),
    ):
        report = Report("ingest", "r", "ok", 0, 0.0, 0.0, "lake", reasons=dict.fromkeys(codes[:shown], 1))
        assert last in _said(parts.frequent_reasons, report)[-1]
    ten = Report("ingest", "r", "ok", 0, 0.0, 0.0, "lake", reasons=dict.fromkeys(codes[:10], 1))
    assert len(_said(parts.frequent_reasons, ten)) == 10
    stopped = {f"node{number:03}": ["OWN_JOURNAL_FORKED"] for number in range(25)}
    lines = _said(parts.stopped_writers, stopped)
    assert sum(line.startswith("writer stopped") for line in lines) == 20
    assert lines[-1] == "… and 5 more writers: --json has all"
    assert "more" not in _said(parts.stopped_writers, dict(list(stopped.items())[:20]))[-1]


def test_a_record_that_waits_for_very_many_others_names_the_first_ones():
    record = dict.fromkeys(_SHOWN) | {
        "reasons": [], "waits_for": [f"record:{number}" for number in range(50_000)], "raw": "", "raw_whole": True,
        "raw_bytes": 0,
    }  # fmt: skip
    shown = " ".join(_said(quarantine, Report("quarantine", "r", members={"record": record})))
    assert "waits for record:0, record:1, record:2, " in shown
    assert "record:19 … and 49,980 more" in shown
    assert "record:20" not in shown


def test_requests_to_more_nodes_than_are_named_are_counted():
    members = {"refused_nodes": {"a": 2, "b": 1}, "refused_past_limit": 4, "stopped": {}}
    for refused, said in ((7, []), (10, ["refused: … and 3 more requests to other nodes"])):
        report = Report("sync", "r", "ok", 0, 0.0, 0.0, "lake", counts={"refused": refused}, members=members)
        assert [line for line in _said(sync, report) if "other nodes" in line] == said


COUNTS = {
    "read": 1_234,
    "new": 1_000,
    "known": 200,
    "rejected": 30,
    "deferred": 4,
    "gone": 0,
    "readmitted": 5,
}
DAMAGE = {
    "damaged_files": [
        {"source": f"f\x1b{number}", "reasons": "BAD_JSON", "rejected": 1_000, "source_offset": number, **more}
        for number, more in enumerate(({}, {"position": 7, "source_offset": None}, {"dialect": "aura"}, {}, {}, {}))
    ],
    "damaged_files_total": 1_006,
}  # fmt: skip
EXAMPLE = {"quarantine_id": "ab" * 32, "namespace": "node:\x1b1", "source": "f", "source_offset": None}
ADVICE = ["  Meaning.", "  what to do: Advice."]
BAD = {"code": "BAD", "meaning": "Meaning.", "advice": "Advice."}
BROKEN = [
    "1,006 files with rejected records",
    "  f\\x1b0, byte 0: BAD_JSON, 1,000 rejected",
    "  f\\x1b1, record 7, byte 0: BAD_JSON, 1,000 rejected",
    "  f\\x1b2 as aura, byte 2: BAD_JSON, 1,000 rejected",
    "  f\\x1b3, byte 3: BAD_JSON, 1,000 rejected",
    "  f\\x1b4, byte 4: BAD_JSON, 1,000 rejected",
    "  more: strandline sql 'SELECT * FROM damaged_source' --lake /l",
]
STOPPED = {"stopped": {"node\x1b": ["A", "B"]}}
HALTED = [
    "writer stopped: node\\x1b  A, B", "  A means.", "  what to do: A helps.", "  B means.", "  what to do: B helps.",
]  # fmt: skip
SAID = [
    "difference repaired: crdt of a, b\\x1b",
    "damaged: the applied snapshot of a is missing or changed",
    "Restore the version of the table snapshot that has it.",
    "damaged: columns of record_count do not follow from the records of a, b",
    "They were not used. Restore the table to a version before the damage.",
    "It failed. Do it again.",
]
WRONG = {"differences": {"crdt": ["a", "b\x1b"]}, "damaged": {"snapshot": ["a"], "record_count": ["a", "b"]}}
FAILED = ReportError("CODE", "It failed.", "Do it again.")


def report(
    command, *, error=None, tables=None, reasons=None, counts=None, namespaces=0, exit_code=0, **members
):
    """Return a report of a lake in a folder that is not the usual one."""
    return Report(
        command, "run-1", "ok", exit_code, 12.34, lake="/l", counts=counts or {}, reasons=reasons or {},
        namespaces=namespaces, tables=tables or {}, members=members, error=error,
    )  # fmt: skip


PRINTED = [
    (show.ingest, report("ingest", counts=COUNTS, namespaces=1), [
        "ingest /l, 12.3 s",
        "read 1,234 = new 1,000 + known 200 + rejected 30 + deferred 4",
        "readmitted 5",
        "1 namespace",
        "next: strandline reduce --lake /l",
    ]),
    (show.ingest, report("ingest", reasons={"X": 1, "BAD": 2_000, "C": 1}, examples={"X": EXAMPLE}, **STOPPED), [
        "ingest /l, 12.3 s",
        "   2,000  BAD",
        *ADVICE,
        "       1  C",
        "       1  X",
        "  example abababababab, node:\\x1b1, in f, byte 0",
        *HALTED,
        "next: strandline reduce --lake /l",
        "next: strandline quarantine --lake /l",
    ]),
    (show.ingest, report("ingest", **DAMAGE), [
        "ingest /l, 12.3 s",
        *BROKEN,
        "next: strandline reduce --lake /l",
    ]),
    (show.stream, report("stream", error=FAILED, checkpoint="/c\x1b", **WRONG), [
        "stream /l, 12.3 s", "next: strandline status --lake /l", *SAID, "checkpoint: /c\\x1b",
    ]),
    (show.reduce, report("reduce", error=FAILED, tables={"crdt": TableChange(7, 1_200)}, **WRONG), [
        "reduce /l, 12.3 s", "crdt: version 7, 1,200 rows inserted", *SAID, "next: strandline status --lake /l",
    ]),
    (show.repeated, report("reduce", error=FAILED, counts={"groups": 2}, exit_code=3), [
        "reduce /l, 12.3 s", "groups 2", "the lake has the run run-1 with exit code 3: nothing was done",
        "It failed. Do it again.",
    ]),
    (show.init, report("init", created=["a", "b\x1b"], migrated=[], unchanged=["c"], views=["d"]), [
        "init /l, 12.3 s", "created: a, b\\x1b", "unchanged: c", "views: d",
    ]),
    (show.export, report("export", counts={"records": 3}, out="/o\x1b", form="car", bytes=1_000, manifest="/m\x1b",
                         sets=[{"namespace": "log:\x1b", "records": 1, "set_hash": "ff"}]), [
        "export /l, 12.3 s", "records 3", "log:\\x1b  1 record, set_hash ff", "written: /o\\x1b, car, 1,000 bytes",
        "written: /m\\x1b",
    ]),
    (show.unpack, report("unpack", counts={"blocks": 2}, out="/a b", bytes=1_000, more=["/m\x1b"], dialect="d"), [
        "blocks 2", "written: /a b, 1,000 bytes", "more roots: /m\\x1b",
        "next: strandline ingest '/a b' '/m\\x1b' --dialect d",
    ]),
    (show.report, report("report", counts={"forked": 1_000, "ok": 0, "behind": 2}, namespaces=2, out="/o", bytes=9), [
        "2 namespaces: 1,000 forked, 2 behind", "written: /o, 9 bytes",
    ]),
    (show.report, report("report", out="/o\x1b", bytes=1), ["0 namespaces", "written: /o\\x1b, 1 bytes"]),
    (show.doctor, report("doctor", checks=[
        {"name": "Java", "ok": True, "found": "17\x1b", "mend": ""},
        {"name": "disk", "ok": False, "found": "full", "mend": "Free\x1b some."},
     ]), ["ok    Java: 17\\x1b", "FAULT disk: full", "      next: Free\\x1b some."]),
    (show.demo, report("demo", sections=[
        {"title": "One", "lines": ["a\x1b"]}, {"title": "Two", "columns": ["x"], "rows": [["1"]]},
     ]), ["", "One", "a\\x1b", "", "Two", "x", "1"]),
    (show.quarantine, report("quarantine", counts={"rejected": 1_000, "deferred": 2},
                             by_reason=[{**BAD, "count": 3, "status": "rejected", "example": EXAMPLE}]), [
        "1,000 rejected, 2 waiting", "       3  BAD  rejected", *ADVICE,
        "  example abababababab, node:\\x1b1, in f, byte 0", "next: strandline quarantine show abababababab --lake /l",
    ]),
    (show.sync, report("sync", counts={"authored": 1, "refused": 1}, refused_nodes={"n\x1b": 1},
                       requests_file="/r\x1b", stopped=STOPPED["stopped"], **WRONG), [
        "sync /l, 12.3 s", "authored 1, refused 1", "refused: n\\x1b is not a local node, 1 requests",
        *HALTED,
        *SAID[:-1], "written: /r\\x1b", "next: strandline status --lake /l",
    ]),
    (show.sync_lakes, report("sync", counts={"pruned_there": 0, "behind": 1, "incomplete": 0}, dry_run=False, **STOPPED,
                             plan=[{"namespace": "a", "dialect": "d", "there": 3, "here": 1, "missing": 2}]), [
        "sync /l, 12.3 s", "behind 1", "namespace  dialect  there  here  missing",
        "a          d            3     1        2",
        *HALTED,
        "next: strandline status --lake /l",
    ]),
    (show.maintain, report("maintain", counts={"compacted_files": 2}, dry_run=False, maintenance=[
        {"table": "run", "small_files": {"files": 3, "buckets": [1, 2], "bytes": 4}, "removable_files": 5,
         "kept_days": 6, "kept_for": "reduce", "sets_retention": True},
     ]), [
        "maintain /l, 12.3 s", "compacted_files 2",
        "table  small files  buckets  bytes  removable files  days kept  kept for",
        "run              3        2      4                5          6  reduce",
        "run: commits and removed files stay 6 days", "next: strandline check --lake /l",
    ]),
    (show.maintain, report("maintain", dry_run=True, maintenance=[]), [
        "maintain /l, 12.3 s", "nothing to do", "nothing was written: run without --dry-run to do it",
    ]),
    (show.status, report("status", counts={"ok": 1, "forked": 0}, namespaces=3, rows=[
        {"health": "ok", "namespace": "node:1", "dialect": "sdmp", "records": 7, "waiting": 1, "rejected": 2,
         "forks": 3, "behind": 4, "state_hash": "0123456789abcdef", "reducer_version": "v1",
         "reduced_at": "2026-01-31T09:30:00.123Z"},
     ], unreduced=[{"table": "t", "version": 5, "reduced_version": 3}], **STOPPED, **DAMAGE), [
        "health  namespace  dialect  records  waiting  rejected  forks  behind  state_hash    reducer  reduced_at",
        ("ok      node:1     sdmp           7        1         2      3       4  0123456789ab  v1       "
         "2026-01-31 09:30:00"),
        "3 namespaces: 1 ok; 1 shown, --all shows all",
        *HALTED,
        *BROKEN,
        "unreduced: t is at version 5, reduce has read version 3",
        "next: strandline reduce --lake /l",
    ]),
]  # fmt: skip
"""What prints a report, the report, and every line of it."""


@pytest.mark.parametrize(("shown", "of", "lines"), PRINTED, ids=lambda value: getattr(value, "command", ""))
def test_a_report_is_printed_whole(shown, of, lines, monkeypatch):
    known = {
        name: SimpleNamespace(code=name, meaning=f"{name} means.", advice=f"{name} helps.")
        for name in ("A", "B")
    }
    known["BAD"] = SimpleNamespace(**BAD)
    monkeypatch.setattr("strandline.contracts.reasons.reasons", lambda: known)
    assert _said(shown, of) == lines
