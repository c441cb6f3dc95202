"""The command line without a JVM: exit codes, one JSON object, errors in two sentences, nearest names, help."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from strandline.cli import main
from strandline.cli.app import command_names
from strandline.cli.invocation import Invocation
from strandline.core.errors import FaultError, UsageError
from support.delta_rs_lake import add_feature, empty_lake, held, set_properties, state, write
from support.report_schema import check_report

NODES = [f"{n:064x}" for n in range(6)]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run in a folder of its own, without settings from outside, on a screen wide enough for any line."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "200")


def printed_json(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """Return the one JSON object that stands on standard output, valid by the schema."""
    out = capsys.readouterr().out
    assert out.endswith("\n")
    assert out.count("\n") == 1
    report: dict[str, Any] = json.loads(out)
    check_report(report)
    return report


def fleet(lake: Path) -> Path:
    """Write a lake with one namespace of each health."""
    empty_lake(lake)
    write(lake, "node_journal_line", [{"namespace": f"node:{NODES[0]}", "profile": "0.9"}])
    write(lake, "namespace_state", [state(f"node:{node}", records=7) for node in NODES[:4]])
    write(lake, "equivocation", [{"namespace": f"node:{NODES[3]}", "kind": "SDMP_FORK"}])
    write(
        lake,
        "quarantine",
        [
            held(b"one", namespace=f"node:{NODES[1]}", status="rejected", reasons=["LINE_NUMBER_MISMATCH"]),
            held(b"two", namespace=f"node:{NODES[2]}", status="deferred", reasons=["PREDECESSOR_UNKNOWN"]),
            held(
                b"three",
                namespace=f"node:{NODES[4]}",
                status="rejected",
                reasons=["MALFORMED_LINE", "TRUNCATED"],
            ),
            held(b"\x1b[31m\xff four", namespace=None, status="rejected", reasons=["BAD_NODE"]),
            held(
                b"{}",
                namespace=f"node:{NODES[5]}",
                status="rejected",
                reasons=["MANIFEST_INVALID"],
                scope="manifest",
            ),
        ],
    )
    return lake


@pytest.mark.large
def test_a_record_table_that_was_made_anew_is_unreduced_until_no_state_is_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lake = empty_lake(tmp_path / "lake")
    write(lake, "namespace_state", [state(f"node:{NODES[0]}", reduced_version=0)])
    assert main(["status", "--check", "--json"]) == 1
    assert printed_json(capsys)["unreduced"] == [
        {"table": "node_journal_line", "version": 0, "reduced_version": 0}
    ]
    assert main(["status"]) == 0
    out = capsys.readouterr().out
    assert "unreduced: node_journal_line is at version 0, reduce has read nothing of it" in out
    # Somebody sets a property: that adds no records.
    DeltaTable(str(lake / "node_journal_line")).alter.set_table_properties({"delta.appendOnly": "false"})
    assert main(["status", "--json"]) == 0
    [named] = printed_json(capsys)["unreduced"]
    assert named["version"] == 1
    DeltaTable(str(lake / "namespace_state")).delete()
    assert main(["status", "--check", "--json"]) == 0
    assert printed_json(capsys)["unreduced"] == []


@pytest.mark.large
def test_status_shows_every_namespace_worst_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet(tmp_path / "lake")
    assert main(["status", "--json"]) == 0
    report = printed_json(capsys)
    assert [(row["health"], row["namespace"][-1]) for row in report["rows"]] == [
        ("forked", "3"), ("waiting", "2"), ("rejected", "1"), ("rejected", "4"), ("ok", "0"),
    ]  # fmt: skip
    assert report["counts"] == {"forked": 1, "behind": 0, "waiting": 1, "rejected": 2, "ok": 1}
    assert report["namespaces"] == 5
    assert report["lake"] == str(tmp_path / "lake")
    without_state = next(row for row in report["rows"] if row["namespace"].endswith("4"))
    assert without_state["records"] == 0
    assert without_state["state_hash"] is None
    assert report["rows"][0]["reduced_at"] == "2026-01-31T09:30:00Z"
    assert report["unreduced"] == []


@pytest.mark.large
def test_status_names_damaged_files_those_without_a_namespace_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lake = fleet(tmp_path / "lake")
    nameless = {"namespace": None, "status": "rejected"}
    write(
        lake,
        "quarantine",
        [
            held(b"late", **nameless, reasons=["BAD_NODE"], source="b\x1b[2J", source_offset=7),
            held(
                b"soon", **nameless, reasons=["BAD_UTF8", "TRUNCATED"], source="b\x1b[2J", source_offset=None
            ),
            held(b"link", **nameless, reasons=["X"], source="m", scope="manifest"),
            held(b"again", **nameless, reasons=["FACT_INVALID"], source="b\x1b[2J", dialect="aura"),
        ],
    )
    assert main(["status", "--json"]) == 0
    report = printed_json(capsys)
    assert report["damaged_files_total"] == 3
    first, again, second = report["damaged_files"]
    assert (again["source"], again["dialect"], again["rejected"]) == ("b\x1b[2J", "aura", 1)
    assert (first["source"], first["rejected"], first["source_offset"]) == ("a.journal", 3, 130)
    assert (second["rejected"], second["source_offset"], second["reasons"]) == (2, None, "BAD_UTF8,TRUNCATED")
    assert main(["status"]) == 0
    out = capsys.readouterr().out
    assert "3 files with rejected records" in out
    assert r"  b\x1b[2J as aura, byte 130: FACT_INVALID, 1 rejected" in out
    assert r"  b\x1b[2J as sdmp, byte 0: BAD_UTF8,TRUNCATED, 2 rejected" in out


@pytest.mark.large
def test_status_names_the_first_damaged_files_and_says_how_many_there_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty_lake(tmp_path / "lake")
    bad = [
        held(b"%d" % at, namespace=None, status="rejected", reasons=["BAD_NODE"], source=f"{at:02}")
        for at in range(25)
    ]
    write(tmp_path / "lake", "quarantine", bad)
    assert main(["status", "--json"]) == 0
    report = printed_json(capsys)
    assert [row["source"] for row in report["damaged_files"]] == [f"{at:02}" for at in range(20)]
    assert report["damaged_files_total"] == 25
    assert main(["status"]) == 0
    assert "more: strandline sql 'SELECT * FROM damaged_source'\n" in capsys.readouterr().out
    os.rename(tmp_path / "lake", tmp_path / "other")
    assert main(["status", "--lake", "other"]) == 0
    more = f"more: strandline sql 'SELECT * FROM damaged_source' --lake {tmp_path / 'other'}"
    assert more in capsys.readouterr().out.replace("\n", "")


@pytest.mark.large
def test_status_names_record_tables_that_reduce_has_not_caught_up_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lake = fleet(tmp_path / "lake")
    write(lake, "node_journal_line", [{"namespace": f"node:{NODES[0]}", "profile": "0.9"}])
    assert main(["status", "--check", "--json"]) == 1
    report = printed_json(capsys)
    assert report["unreduced"] == [{"table": "node_journal_line", "version": 2, "reduced_version": 1}]
    # A table that was made anew has not got as far as the one before.
    write(lake, "namespace_state", [state(f"node:{NODES[1]}", reduced_version=9)])
    assert main(["status", "--check", "--json"]) == 1
    report = printed_json(capsys)
    assert report["unreduced"] == [{"table": "node_journal_line", "version": 2, "reduced_version": 9}]


@pytest.mark.large
def test_a_record_table_that_was_emptied_and_reduced_is_not_unreduced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lake = empty_lake(tmp_path / "lake")
    for _ in range(2):
        write(lake, "node_journal_line", [{"namespace": f"node:{NODES[0]}", "profile": "0.9"}])
    assert main(["status", "--check", "--json"]) == 1
    assert printed_json(capsys)["unreduced"] == [
        {"table": "node_journal_line", "version": 2, "reduced_version": None}
    ]
    # `reduce` deletes the states of what is gone.
    DeltaTable(str(lake / "node_journal_line")).restore(0)
    assert main(["status", "--check", "--json"]) == 0
    assert printed_json(capsys)["unreduced"] == []


@pytest.mark.large
@pytest.mark.parametrize("command", [["status"], ["quarantine"]])
def test_a_lake_whose_rows_only_spark_reads_is_left_to_spark(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    def no_spark(call: Invocation, **_: object) -> None:
        raise FaultError("SPARK_ASKED", "Spark was asked for", "nothing")

    monkeypatch.setattr(Invocation, "session", no_spark)
    lake = empty_lake(tmp_path / "lake")
    assert main([*command, "--json"]) == 0
    printed_json(capsys)
    add_feature(lake, "namespace_state", "v2Checkpoint")
    assert main([*command, "--json"]) == 0
    printed_json(capsys)
    for table, feature in (("quarantine", "typeWidening"), ("namespace_state", "deletionVectors")):
        add_feature(lake, table, feature)
        assert main([*command, "--json"]) == 3
        assert printed_json(capsys)["error"]["code"] == "SPARK_ASKED"


def test_status_of_a_lake_without_records_is_empty_and_fine(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty_lake(tmp_path / "lake")
    assert main(["status", "--check", "--json", "--quiet"]) == 0
    assert printed_json(capsys)["rows"] == []


@pytest.mark.large
def test_status_check_finds_what_waits_and_passes_what_is_fine(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet(tmp_path / "lake")
    assert main(["status", "--check", "--json"]) == 1
    assert printed_json(capsys)["outcome"] == "found"
    assert main(["status", "--check", "--json", NODES[0], f"node:{NODES[1]}"]) == 0
    assert [row["namespace"] for row in printed_json(capsys)["rows"]] == [
        f"node:{NODES[1]}",
        f"node:{NODES[0]}",
    ]


@pytest.mark.large
def test_status_finds_a_log_by_its_id_as_it_is_or_percent_encoded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty_lake(tmp_path / "lake")
    write(tmp_path / "lake", "namespace_state", [state("log:%2Fshop%20%C3%A9", records=7)])
    for name in ("/shop é", "%2Fshop%20%C3%A9", "log:%2Fshop%20%C3%A9"):
        assert main(["status", name, "--json"]) == 0
        assert [row["records"] for row in printed_json(capsys)["rows"]] == [7]


@pytest.mark.large
def test_status_shows_50_rows_unless_all_are_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty_lake(tmp_path / "lake")
    write(tmp_path / "lake", "namespace_state", [state(f"node:{n:064x}") for n in range(60)])
    main(["status", "--json"])
    assert len(printed_json(capsys)["rows"]) == 50
    main(["status", "--json", "--all"])
    assert len(printed_json(capsys)["rows"]) == 60
    main(["status"])
    assert "60 namespaces: 60 ok; 50 shown, --all shows all" in capsys.readouterr().out


def test_a_namespace_that_is_not_there_is_wrong_usage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet(tmp_path / "lake")
    assert main(["status", "x' OR 1=1", "--json"]) == 2
    assert printed_json(capsys)["error"]["code"] == "NAMESPACE_UNKNOWN"


def test_a_namespace_that_may_be_two_is_wrong_usage_and_both_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty_lake(tmp_path / "lake")
    write(tmp_path / "lake", "namespace_state", [state("node:x"), state("group:x")])
    assert main(["status", "x", "--json"]) == 2
    error = printed_json(capsys)["error"]
    assert error["code"] == "NAMESPACE_AMBIGUOUS"
    assert "group:x and node:x" in error["message"]


@pytest.mark.large
@pytest.mark.parametrize(
    "given", ["7a51", "node:7a51", "7a5179ee", "%2Fsh", "/sh", "log:%2Fs", "shop", "/orbitdb/zdpu é"]
)
def test_the_first_part_of_a_name_will_do_where_one_namespace_begins_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], given: str
) -> None:
    empty_lake(tmp_path / "lake")
    names = (
        f"node:7a5179ee{NODES[0][8:]}",
        f"node:7b{NODES[0][2:]}",
        "log:%2Fshop",
        "log:shop",
        "log:shop-2",
    )
    names += ("log:%2Forbitdb%2Fzdpu%20%C3%A9x",)
    write(tmp_path / "lake", "namespace_state", [state(name) for name in names])
    assert main(["status", given, "--json"]) == 0
    expected = {"7": names[0], "n": names[0], "%": names[2], "l": names[2], "s": names[3], "/": names[2]}[
        given[0]
    ]
    found = names[5] if "orbitdb" in given else expected
    assert [row["namespace"] for row in printed_json(capsys)["rows"]] == [found]


@pytest.mark.large
@pytest.mark.parametrize(
    ("given", "code"), [("7", "NAMESPACE_AMBIGUOUS"), ("node:", "NAMESPACE_UNKNOWN"), ("n", "NAMESPACE_UNKNOWN"),
                        ("", "NAMESPACE_UNKNOWN"), ("\udcff", "NAMESPACE_UNKNOWN")],
)  # fmt: skip
def test_the_first_part_of_several_or_of_a_kind_alone_names_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], given: str, code: str
) -> None:
    empty_lake(tmp_path / "lake")
    names = [f"node:7{at}" for at in "cab"]
    write(tmp_path / "lake", "namespace_state", [state(name) for name in names])
    assert main(["status", given, "--json"]) == 2
    error = printed_json(capsys)["error"]
    assert error["code"] == code
    if not given:
        assert error["message"] == "this lake has no namespace ''."
    if code == "NAMESPACE_AMBIGUOUS":
        assert "7 matches node:7a and node:7b, among others" in error["message"]


def test_a_reason_that_is_like_none_is_refused_in_a_line_and_not_with_all_codes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for code in ("NOPE", "", "\x1b[31m"):
        assert main(["explain", code]) == 2
        error, step = capsys.readouterr().err.splitlines()
        assert error == f"error: {code!r} is no reason code."
        assert len(step) < 200


@pytest.mark.large
def test_status_for_people_names_the_next_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lake = fleet(tmp_path / "an other")
    write(lake, "node_journal_line", [{"namespace": f"node:{NODES[0]}", "profile": "0.9"}])
    assert main(["status", "--lake", "an other"]) == 0
    out = capsys.readouterr().out
    assert "5 namespaces: 1 forked, 1 waiting, 2 rejected, 1 ok" in out
    assert "unreduced: node_journal_line is at version 2, reduce has read version 1" in out
    assert f"next: strandline reduce --lake '{lake}'" in out


@pytest.mark.large
def test_quarantine_counts_by_reason_with_an_example(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet(tmp_path / "lake")
    assert main(["quarantine", "--json"]) == 0
    report = printed_json(capsys)
    assert report["counts"] == {"rejected": 3, "deferred": 1}
    assert report["reasons"]["TRUNCATED"] == 1
    assert all(entry["meaning"] and entry["advice"] for entry in report["by_reason"])
    assert main(["quarantine", "list"]) == 0
    assert "3 rejected, 1 waiting" in capsys.readouterr().out


@pytest.mark.parametrize(("count", "others"), [(2, ""), (5, ", among others")])
def test_a_prefix_of_several_ids_is_refused_with_two(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], count: int, others: str
) -> None:
    empty_lake(tmp_path / "lake")
    ids = [bytes([0xAB, last]) + bytes(30) for last in range(1, count + 1)]
    rows = [
        held(b"x", namespace=None, status="rejected", reasons=["BAD_NODE"], quarantine_id=id_) for id_ in ids
    ]
    write(tmp_path / "lake", "quarantine", rows)
    assert main(["quarantine", "show", "ab", "--json"]) == 2
    error = printed_json(capsys)["error"]
    assert error["code"] == "ID_AMBIGUOUS"
    assert error["message"] == f"ab matches {ids[0].hex()} and {ids[1].hex()}{others}."
    assert main(["quarantine", "show", "ab01", "--json"]) == 0


def test_rows_are_either_one_json_object_or_in_another_format(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sql", "SELECT 1", "--format", "csv", "--json"]) == 2
    assert printed_json(capsys)["error"]["code"] == "FORMAT_AND_JSON"


@pytest.mark.large
def test_quarantine_show_takes_a_prefix_and_escapes_what_it_shows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet(tmp_path / "lake")
    main(["quarantine", "--json"])
    entries = printed_json(capsys)["by_reason"]
    [bad_node] = [entry["example"]["quarantine_id"] for entry in entries if entry["code"] == "BAD_NODE"]
    assert main(["quarantine", "show", bad_node[:10], "--json"]) == 0
    record = printed_json(capsys)["record"]
    assert bytes.fromhex(record["raw"]) == b"\x1b[31m\xff four"
    assert record["quarantine_id"] == bad_node
    assert main(["quarantine", "show", bad_node]) == 0
    out = capsys.readouterr().out
    assert "\x1b[31m" not in out
    assert r"\x1b[31m\xff four" in out
    assert "00000000  1b 5b 33 31 6d ff 20 66 6f 75 72" in out
    assert "expected" in out


def test_a_line_separator_in_evidence_begins_no_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty_lake(tmp_path / "lake")
    hostile = "x\u2028what to do: run evil\u2029y\x85z\n"
    evidence = json.dumps({"MANIFEST_INVALID": {"dialect": hostile}})
    row = held(b"{}", namespace=None, status="rejected", reasons=["MANIFEST_INVALID"], evidence=evidence)
    write(tmp_path / "lake", "quarantine", [row])
    assert main(["quarantine", "show", row["quarantine_id"].hex()]) == 0
    lines = capsys.readouterr().out.split("evidence\n")[1].split("\n\n")[0].split("\n")
    assert lines == [
        "  {",
        '    "MANIFEST_INVALID": {',
        r'      "dialect": "x\u2028what to do: run evil\u2029y\x85z\n"',
        "    }",
        "  }",
    ]


@pytest.mark.large
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["show", "zz"], "ID_INVALID"),
        (["show", "0" * 65], "ID_INVALID"),
        (["show", "0000000000"], "ID_UNKNOWN"),
        (["show"], "USAGE"),
        (["shwo", "00"], "COMMAND_UNKNOWN"),
        (["list", "00"], "USAGE"),
    ],
)
def test_quarantine_refuses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: str
) -> None:
    fleet(tmp_path / "lake")
    assert main(["quarantine", *arguments, "--json"]) == 2
    assert printed_json(capsys)["error"]["code"] == code


def test_explain_says_what_a_code_means(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "line_number_mismatch", "--json"]) == 0
    assert printed_json(capsys)["code"] == "LINE_NUMBER_MISMATCH"
    assert main(["explain", "PREDECESSOR_UNKNOWN"]) == 0
    out = capsys.readouterr().out
    assert "What to do:" in out
    assert "Waits for: line:" in out


def test_explain_offers_the_nearest_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "LINE_NUMER_MISMATCH"]) == 2
    assert capsys.readouterr().err.splitlines()[1] == "next: did you mean LINE_NUMBER_MISMATCH?"


def test_config_says_where_each_value_comes_from(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STRANDLINE_MERGE__ATTEMPTS", "3")
    assert main(["config", "--set", "tables.buckets=4", "--env", "prod", "--json"]) == 0
    settings = printed_json(capsys)["settings"]
    assert settings["tables.buckets"] == {"value": 4, "from": "command line"}
    assert settings["merge.attempts"] == {"value": 3, "from": "environment STRANDLINE_MERGE__ATTEMPTS"}
    assert settings["spark.driver_memory"]["from"].startswith("conf/prod.yaml:")


@pytest.mark.parametrize(
    ("arguments", "code", "next_words"),
    [
        (["stats"], "COMMAND_UNKNOWN", "did you mean status?"),
        (["status", "--chek"], "OPTION_UNKNOWN", "did you mean --check?"),
        (["status", "--zzzz"], "OPTION_UNKNOWN", "`strandline status --help` lists its options"),
        (["--lake", "x", "status"], "OPTION_UNKNOWN", "follow the command: `strandline COMMAND --lake`"),
        (["--erase", "x", "gc"], "OPTION_UNKNOWN", "options follow the command: `strandline gc --erase`"),
        (["ingest", "--log-config", "x"], "OPTION_UNKNOWN", "it is an option of reduce, stream and sync."),
        (["status", "--lake", "a", "--schema", "b.c"], "LAKE_AND_SCHEMA", "one of them"),
        (["status", "--lake", "nowhere"], "LAKE_NOT_FOUND", "strandline init"),
        (["status", "--schema", "nodot"], "SCHEMA_NAME_INVALID", "--schema main.strandline"),
        (["status", "--schema", "a.b; DROP TABLE x"], "SCHEMA_NAME_INVALID", "letters"),
        (["status", "--lake", ""], "LAKE_PATH_INVALID", "folder"),
        (["ingest", "x"], "DIALECT_MISSING", "add --dialect"),
        (["ingest", "x", "--dialect", "sdpm"], "DIALECT_UNKNOWN", "sdmp"),
        (["ingest", "--dialect", "sdmp"], "SOURCE_MISSING", "strandline ingest"),
        (["ingest", "x", "--dialect", "sdmp", "--from-quarantine"], "SOURCE_AND_QUARANTINE", "leave out"),
        (["ingest", "x", "--dialect", "sdmp", "--reason", "BOMB"], "OPTION_ALONE", "--from-quarantine"),
        (["ingest", "--dialect", "sdmp", "--from-quarantine", "--reason", "BOM"], "REASON_UNKNOWN", "BOMB"),
        *(
            (["ingest", "--dialect", "sdmp", *alone, option, *value], "OPTION_ALONE", f"leave out {option}")
            for alone, option, *value in (
                (["--from-quarantine"], "--format", "lines"),
                (["--from-quarantine"], "--require-manifest"),
                (["--drop-rejected-before", "2026-01-31"], "--format", "lines"),
                (["--drop-rejected-before", "2026-01-31"], "--require-manifest"),
                (["--drop-rejected-before", "2026-01-31"], "--fail-on-reject"),
            )
        ),
        *(
            (["ingest", "--dialect", "sdmp", "--from-quarantine", "--reason", reason], code, next_words)
            for reason, code, next_words in (
                ("PATH_REFUSED", "REASON_NOT_REPLAYED", "explain PATH_REFUSED"),
                ("FILE_UNREADABLE", "REASON_NOT_REPLAYED", "explain FILE_UNREADABLE"),
                ("ROW_BREAKS_CONTRACT", "REASON_NOT_REPLAYED", "explain ROW_BREAKS_CONTRACT"),
                ("MANIFEST_MISMATCH", "REASON_NOT_REPLAYED", "explain MANIFEST_MISMATCH"),
                ("READER_BEHIND", "REASON_NOT_REPLAYED", "explain READER_BEHIND"),
                ("CLOCK_ID_MISMATCH", "DIALECTS_DIFFER", "--dialect ipfslog"),
            )
        ),
        (["gc", "--what-if", "--archive", "texts"], "OPTION_ALONE", "else leave out --archive"),
        (["gc", "--what-if", "--compact"], "OPTION_ALONE", "else leave out --compact"),
        (["gc", "--what-if", "--vacuum", "168"], "OPTION_ALONE", "else leave out --vacuum"),
        (["gc", "--archive", "texts", "--dialect", "ipfslog"], "DIALECTS_DIFFER", "--dialect sdmp"),
        (["gc", "--erase", "devicelog", "--dialect", "ipfslog"], "DIALECTS_DIFFER", "--dialect devicelog"),
        (
            ["ingest", "--dialect", "sdmp", "--drop-rejected-before", "31.1.2026"],
            "DATE_INVALID",
            "year-month-day",
        ),
        (["reduce", "--log-config", "nowhere.json"], "OPTION_FILE", "name a file"),
        (["init", "--buckets", "0"], "USAGE", "--help"),
        (["init", "--buckets", "x"], "USAGE", "--help"),
        (["status", "--check=x"], "USAGE", "`strandline status --help`"),
        (["--version=x"], "USAGE", "`strandline --help`"),
        (["sql"], "QUERY_MISSING", "strandline sql"),
        (["sql", "SELECT 1", "-f", "x.sql"], "QUERY_TWICE", "-f FILE"),
        (["sql", "-f", "nowhere.sql"], "QUERY_FILE", "file"),
        (["sql", "SELECT 1", "--format", "parquet"], "OUT_MISSING", "--out"),
        (["sql", "SELECT 1", "--format", "xml"], "USAGE", "--help"),
        (["maintain", "--keep-days", "3"], "USAGE", "--help"),
        (["explain"], "USAGE", "--help"),
        (["explain", "line-number-mismach"], "REASON_UNKNOWN", "did you mean LINE_NUMBER_MISMATCH?"),
        (["explain", "WRITE_CONFLICT"], "REASON_UNKNOWN", "is printed with its next step"),
        (["quarantine", "5e25060FEBD4"], "COMMAND_UNKNOWN", "`strandline quarantine show 5e25060FEBD4`"),
        (["quarantine", "shwo"], "COMMAND_UNKNOWN", "did you mean show?"),
        (["config", "--set", "tables.bucket=1"], "SETTING_UNKNOWN", "tables.buckets"),
        (["config", "--env", "prd"], "ENV_UNKNOWN", "prod"),
        (["config", "--conf", "nowhere.yaml"], "CONF_NOT_FOUND", "`strandline config`"),
        # Of commands that use no setting, too.
        (["status", "--set", "tables.bucket=1"], "SETTING_UNKNOWN", "tables.buckets"),
        (["quarantine", "--conf", "nowhere.yaml"], "CONF_NOT_FOUND", "`strandline config`"),
        (["explain", "BOM", "--env", "prd"], "ENV_UNKNOWN", "prod"),
        (["config", "--conf", "a.yaml", "--env", "dev"], "CONF_TWICE", "one of them"),
        (["stream", "landing", "--dialect", "sdmp"], "TRIGGER_MISSING", "--every 30s"),
        (
            ["stream", "landing", "--dialect", "sdmp", "--available-now", "--every", "1s"],
            "TRIGGERS_TWO",
            "--available-now",
        ),
        (["stream", "landing", "--dialect", "sdmp", "--every", "soon"], "DURATION_INVALID", "--every 30s"),
        (["stream", "landing", "--dialect", "sdmp", "--every", "0s"], "DURATION_INVALID", "--every 30s"),
    ],
)
def test_wrong_usage_is_exit_2_in_one_shape(
    capsys: pytest.CaptureFixture[str], arguments: list[str], code: str, next_words: str
) -> None:
    assert main([*arguments, "--json"]) == 2
    report = printed_json(capsys)
    assert report["outcome"] == "usage"
    assert report["error"]["code"] == code
    assert next_words in report["error"]["next"]
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    first, second = captured.err.splitlines()
    assert first.startswith("error: ")
    assert second.startswith("next: ")
    assert "Traceback" not in captured.err


@pytest.mark.parametrize(("more", "code"), [(-1, "OPENED"), (0, "OPENED"), (1, "QUERY_FILE")])
def test_a_query_file_may_have_1_mib(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, more: int, code: str
) -> None:
    def opened(call: Invocation, **_: object) -> None:
        raise UsageError("OPENED", "the lake would be opened", "open it")

    monkeypatch.setattr(Invocation, "store", opened)
    (tmp_path / "q.sql").write_text("SELECT 1".ljust((1 << 20) + more))
    assert main(["sql", "-f", "q.sql", "--json"]) == 2
    assert printed_json(capsys)["error"]["code"] == code


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["maintain", "--keep-days", "x"],
            "strandline maintain: --keep-days must be a whole number from 7 to 36500.",
        ),
        (["gc", "--vacuum", "x"], "strandline gc: --vacuum must be a whole number."),
        (
            ["sql", "SELECT 1", "--format", "xml"],
            "strandline sql: invalid value for '--format': 'xml' is not one of 'table', 'csv', 'json', 'parquet'.",
        ),
    ],
)
def test_a_value_that_no_option_takes_is_told_in_words_of_the_command(capsys, arguments, sentence) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr().err.splitlines()[0] == f"error: {sentence}"


@pytest.mark.parametrize(
    ("there", "code"), [("file", "LAKE_FOREIGN"), ("other things", "LAKE_FOREIGN"), ("gap", "TABLE_MISSING")]
)
def test_a_folder_that_is_no_whole_lake_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], there: str, code: str
) -> None:
    lake = tmp_path / "lake"
    if there == "file":
        lake.write_text("x")
    elif there == "other things":
        lake.mkdir()
        (lake / "holiday.jpg").write_text("x")
    else:
        write(lake, "quarantine", [])
    assert main(["status", "--json"]) == 2
    assert printed_json(capsys)["error"]["code"] == code


def test_a_contract_of_a_newer_major_version_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    set_properties(empty_lake(tmp_path / "lake"), "quarantine", {"strandline.contract": "99.0.0"})
    assert main(["status", "--json"]) == 2
    error = printed_json(capsys)["error"]
    assert error["code"] == "CONTRACT_NEWER"
    assert "quarantine" in error["message"]


def test_a_contract_of_no_newer_major_version_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    set_properties(empty_lake(tmp_path / "lake"), "quarantine", {"strandline.contract": "1.9.9"})
    assert main(["status", "--json"]) == 0
    assert printed_json(capsys)["rows"] == []


def test_a_damaged_table_is_a_fault_that_names_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet(tmp_path / "lake")
    for file in (tmp_path / "lake" / "namespace_state").rglob("*.parquet"):
        file.unlink()
    assert main(["status", "--json"]) == 3
    error = printed_json(capsys)["error"]
    assert error["code"] == "TABLE_DAMAGED"
    assert "namespace_state" in error["message"]


def test_no_java_is_one_message_before_any_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert main(["reduce", "--json", "--quiet"]) == 3
    assert printed_json(capsys)["error"]["code"] == "JAVA_MISSING"
    assert main(["reduce", "--quiet"]) == 3
    err = capsys.readouterr().err
    assert "openjdk-17" in err
    assert "Traceback" not in err


def test_a_bug_shows_its_traceback_and_the_line_to_report(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("no \x1b[2J screen")

    monkeypatch.setattr("strandline.pipelines.explain.run", broken)
    assert main(["explain", "BOMB", "--json"]) == 3
    captured = capsys.readouterr()
    assert "Traceback" in captured.err
    assert "This is a bug in Strandline. Please report this line: strandline" in captured.err.splitlines()[-1]
    assert "\x1b" not in captured.err
    report = json.loads(captured.out)
    check_report(report)
    assert report["error"]["code"] == "BUG"


@pytest.mark.parametrize("name", command_names())
def test_every_command_has_examples_in_its_help(capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert main([name, "--help"]) == 0
    out = capsys.readouterr().out
    assert "Examples:" in out
    assert f"strandline {name}" in out.partition("Examples:")[2]
    assert "--json" in out


def test_help_groups_commands_by_what_a_person_wants(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    out = capsys.readouterr().out
    assert [panel for panel in ("Start", "Load", "Query") if f"\n{panel}:\n" in out] == [
        "Start",
        "Load",
        "Query",
    ]
    assert all(name in out for name in command_names())
    kept_small = out.partition("\nKeep small:\n")[2].partition("\n\n")[0]
    listed = [line.split()[0] for line in kept_small.splitlines() if line[2:3] not in ("", " ")]
    assert listed == ["snapshot", "gc", "maintain"]


def test_version_names_the_five_that_matter(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [
        "Strandline", "Spark", "Delta", "Java", "Python",
    ]  # fmt: skip


@pytest.mark.large
def test_what_only_looks_at_a_lake_path_loads_no_spark(tmp_path: Path) -> None:
    fleet(tmp_path / "lake")
    script = (
        "import sys; from strandline.cli import main; "
        "code = main(['status', '--json']) or main(['quarantine', '--json']); "
        "sys.exit(code or any(name.split('.')[0] in ('pyspark', 'py4j', 'pandas', 'pyarrow') for name in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.large
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["there.car"], "OUT_EXISTS"),
        (["stated.car"], "OUT_EXISTS"),
        (["folder"], "OUT_IS_FOLDER"),
        (["a.manifest.json"], "OUT_NAME"),
        (["back\\slash.car"], "OUT_NAME"),
        (["\udcff.car"], "MANIFEST_REFUSED"),
    ],
)
def test_a_file_that_export_cannot_make_is_refused_before_spark_starts(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    code: str,
) -> None:
    def no_spark(call: Invocation, **_: object) -> None:
        raise FaultError("SPARK_ASKED", "Spark was asked for", "nothing")

    monkeypatch.setattr(Invocation, "session", no_spark)
    (tmp_path / "there.car").touch()
    (tmp_path / "stated.car.manifest.json").write_text("mine")
    (tmp_path / "folder").mkdir()
    assert main(["export", "demo-shop", "--json", "--out", *words]) == 2
    assert printed_json(capsys)["error"]["code"] == code
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "folder",
        "stated.car.manifest.json",
        "there.car",
    ]
    assert (tmp_path / "stated.car.manifest.json").read_text() == "mine"
    empty_lake(tmp_path / "lake")
    assert main(["export", "demo-shop", "--json", "--out", "new.car"]) == 3


def test_export_and_unpack_need_a_file_to_write(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (
        ["export", "demo-shop"],
        ["export", "--out", "x.car"],
        ["unpack", "."],
        ["unpack", "--out", "x.car"],
    ):
        assert main([*words, "--json"]) == 2
        assert printed_json(capsys)["error"]["code"] == "USAGE"
