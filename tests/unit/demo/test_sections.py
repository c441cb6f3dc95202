"""What the demo says: every fate, every number in full, commands that can be typed as they stand."""

from pathlib import Path

from strandline.contracts.reasons import reasons
from strandline.dialect_api.demo import DemoFile, DemoPruning, DemoRejection
from strandline.pipelines.demo import sections
from strandline.pipelines.report import Report

WHERE = "--lake demo-lake"


def _report(**members) -> Report:
    counts = {"read": 1259, "new": 1236, "known": 2, "rejected": 2, "deferred": 19}
    return Report("ingest", "r", counts=counts, reasons={"B": 2, "A": 19}, namespaces=7, members=members)


def test_every_file_is_told() -> None:
    files = (DemoFile("a.journal", "one", 2, b"x"), DemoFile("b.journal", "other", 1, b"y"))
    told = sections.input_files(Path("demo-lake/.demo/input"), files)
    assert told == {
        "title": "Journals, in demo-lake/.demo/input",
        "columns": ["file", "records", "what it is"],
        "rows": [["a.journal", 2, "one"], ["b.journal", 1, "other"]],
    }


def test_counts_add_up_on_one_line_and_reasons_follow_most_frequent_first() -> None:
    told = sections.counts(_report(), _report())
    lines = told["lines"]
    assert told.keys() == {"title", "lines"}
    assert lines[3:] == ["7 namespaces reduced to their state"]
    assert lines[0] == "read 1,259 = new 1,236 + known 2 + rejected 2 + deferred 19"
    assert [line.split() for line in lines[1:3]] == [["19", "A"], ["2", "B"]]


def test_a_rejected_line_is_told_with_both_numbers_in_full_and_the_words_of_its_reason() -> None:
    evidence = {"position": 3, "expected": "e" * 64, "actual": "a" * 64, "note": "either of two"}
    record = {"quarantine_id": "ab" * 32, "evidence": {"LINE_NUMBER_MISMATCH": evidence}}
    rejection = DemoRejection("Line 3 was rejected", "printed.journal", "node:x", "LINE_NUMBER_MISMATCH")
    told = sections.rejected(record, rejection, accepted_before=2, where=WHERE)
    assert told["title"] == rejection.title
    text = "\n".join(told["lines"])
    words = reasons()["LINE_NUMBER_MISMATCH"]
    for part in (
        "e" * 64,
        "a" * 64,
        "either of two",
        words.meaning,
        words.advice,
        "2 records of the file before it",
    ):
        assert part in text
    assert told["lines"][-1].endswith(f"strandline quarantine show abababababab {WHERE}")


def test_the_query_is_shown_as_it_was_asked_with_its_rows() -> None:
    told = sections.query("SELECT 1 AS a\nFROM b", _report(columns=["a"], rows=[[1]]))
    assert told["title"] == "One query"
    assert ("\n".join(told["lines"]), told["columns"], told["rows"]) == (
        "SELECT 1 AS a\nFROM b",
        ["a"],
        [[1]],
    )


def test_health_is_shown_with_names_cut_and_marked_as_cut() -> None:
    row = {
        "health": "ok", "namespace": "node:" + "a" * 64, "records": 3, "waiting": 0, "rejected": 0, "forks": 0,
        "state_hash": "b" * 64,
    }  # fmt: skip
    told = sections.health(_report(rows=[row]))
    assert (told["title"], told["columns"]) == ("Health, worst first", list(row))
    [shown] = told["rows"]
    assert shown == ["ok", "node:" + "a" * 16 + "…", 3, 0, 0, 0, "b" * 16]


def test_the_next_commands_are_listed() -> None:
    assert sections.next_commands(("a", "b")) == {"title": "Try next", "lines": ["a", "b"]}


def test_a_pruned_namespace_is_shown_before_and_after_with_both_hashes_of_its_proof() -> None:
    pruning = DemoPruning(DemoFile("a.jsonl", "one", 36, b"x"), "log:stock", 4)
    done = {"before_hash": "a" * 64, "after_hash": "b" * 64}
    shown = sections.pruned(pruning, _report(collections=[done]), [36, 11], WHERE)
    assert shown["lines"][0] == f"strandline gc --namespace log:stock --skip-window 4 {WHERE}"
    assert shown["title"] == "Records that decide nothing any more are pruned"
    assert shown["columns"] == ["namespace", "stored_records", "hash_of_reduced_rows"]
    assert shown["rows"] == [["log:stock", 36, "a" * 16], ["log:stock", 11, "b" * 16]]
