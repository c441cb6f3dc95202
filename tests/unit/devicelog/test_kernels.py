"""Kernels of device logs: files, verdicts, rows and lines, batch by batch, as the plain functions give them."""

import gzip
import hashlib
import json

import pyarrow as pa
import pytest

from strandline.core.verdict import encode_evidence
from strandline.dialects.devicelog import kernels
from strandline.dialects.devicelog.codec import block_of, read_documents, read_line, write_entry
from strandline.dialects.devicelog.info import SSB_HMAC_KEY, SSB_PROFILE
from strandline.dialects.devicelog.types import Entry
from strandline.dialects.devicelog.verify import judge_references, references_of, referent, signature_findings
from strandline.kernels import blocks
from strandline.kernels.containers import StreamLimits
from strandline.kernels.lines import RawLimits
from strandline.kernels.pieces import Pieces
from strandline.kernels.reading import ReadOptions, read_one
from support.devicelog_cases import compact, edited, example, feed
from support.devicelog_corpus import corpus
from support.devicelog_reference import FORMATS, entry_row
from support.devicelog_tampering import FOLLOWING, SIGNATURES, WAITING, respelled, tampered

LIMITS = (StreamLimits(2**36, 100), RawLimits(4 * 2**20, 2**16))


def options(profile="strict", key="", limits=LIMITS):
    return ReadOptions({SSB_PROFILE: profile, SSB_HMAC_KEY: key}, *limits)


def rows_of(content, form, limits=LIMITS):
    """The pieces of a file."""
    pieces = Pieces(kernels.DOCUMENT_FIELDS)
    for _ in read_one(0, content, pieces, options(limits=limits), kernels.read_content, form):
        pass
    return [row for batch in pieces.rest() for row in batch.to_pylist()]


def told(document):
    found = document.found
    if isinstance(found, Entry):
        block = block_of(found)
        place = (found.namespace, found.record_id, hashlib.sha256(block).digest(), found.sig)
        return "block", *place, block, None, None, document.offset
    evidence = encode_evidence(found.evidence)
    return (
        None, found.namespace, None, None, None, document.raw, ",".join(document.reasons), evidence, document.offset,
    )  # fmt: skip


def seen(row):
    names = ("kind", "namespace", "record_id", "judge_id", "sig", "raw", "damage", "evidence", "offset")
    return tuple(row[name] for name in names)


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_files_have_the_documents_that_the_plain_reader_gives(pack):
    count = 0
    for run in corpus(5, 6, 8):
        for name, content in run.items():
            form = FORMATS[name.rpartition(".")[2]]
            expected = list(map(told, read_documents(content, form)))
            assert list(map(seen, rows_of(pack(content), form))) == expected
            count += len(expected)
    assert count > 150


def test_an_entry_is_read_whole_however_little_is_kept_of_what_is_refused():
    little = (LIMITS[0], RawLimits(10, 4))
    for run in corpus(5, 2, 8):
        for name, content in run.items():
            form = FORMATS[name.rpartition(".")[2]]
            all_kept, found = ([*map(seen, rows_of(content, form, each))] for each in (LIMITS, little))
            assert [row for row in found if row[0] == "block"] == [
                row for row in all_kept if row[0] == "block"
            ]
            assert len(found) == len(all_kept)


def test_the_largest_whole_file_is_refused_with_its_length(monkeypatch):
    from strandline.dialects.devicelog.kernels import documents

    monkeypatch.setattr(documents, "MAX_FILE_BYTES", 10)
    [row] = rows_of(b" " * 9 + b"[]", "json")
    assert row["damage"] == "FILE_TOO_LARGE"
    assert json.loads(row["evidence"])["FILE_TOO_LARGE"] == {"expected": 10, "actual": 11}


def test_a_line_in_any_spelling_is_kept_in_one():
    line = write_entry(example()["phone 5"])
    assert [seen(row)[1:6] for row in rows_of(respelled(line) + b"\r\n", "lines")] == [
        seen(row)[1:6] for row in rows_of(line + b"\n", "lines")
    ]


def test_an_entry_is_judged_as_the_plain_functions_judge_it():
    made = [*example().values(), *(make() for make, _ in SIGNATURES.values())]
    made += [read_line(compact(value)) for value in feed()]
    for entry in made:
        found = kernels.judge(block_of(entry), {}, options())
        findings = signature_findings(entry)
        assert found.get("reasons", []) == sorted({each.reason for each in findings})
        row = entry_row(entry) | {"entry_kind": entry.kind, "deps": list(entry.deps)}
        assert {name: found[name] for name in (field.name for field in kernels.ENTRY_FIELDS)} == {
            field.name: row[field.name] for field in kernels.ENTRY_FIELDS
        }
        assert found["named"] == list(references_of(entry).every)
    second = block_of(read_line(compact(feed()[1])))
    assert kernels.judge(second, {}, options("weak"))["named"] == []
    keyed = kernels.judge(second, {}, options(key="BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc="))
    assert keyed["reasons"] == ["SIGNATURE_INVALID"]


def test_bytes_that_are_no_entry_are_a_fault_of_the_table():
    with pytest.raises(ValueError, match="JSON_INVALID"):
        kernels.parsed(b"x")


def alone_of(entry, held, accepted):
    """A row of CANDIDATE_COLUMNS."""
    row = {
        name: getattr(entry, name)
        for name in ("namespace", "record_id", "profile", "log", "seq", "lamport", "prev")
    }
    named = references_of(entry)
    found = [
        {"id": each, "log": held[each].log, "seq": held[each].seq, "lamport": held[each].lamport,
         "is_accepted": each in accepted}
        for each in named.every if each in held
    ]  # fmt: skip
    grant = entry.deps[0] if entry.kind == "key" and entry.deps else None
    return row | {
        "entry_kind": entry.kind, "deps": list(entry.deps), "named": list(named.every), "found": found or None,
        "statement": entry.body if entry.kind == "remove-log" else None,
        "is_granted": entry.log in referent(held[grant]).grants if grant in held else None,
    }  # fmt: skip


@pytest.mark.parametrize("stored", [(), ("phone 0", "phone 1", "phone 2"), tuple(example())])
def test_references_are_judged_as_the_plain_functions_judge_them(stored):
    made = example()
    attacks = [make() for make, _ in (*FOLLOWING.values(), *WAITING.values())]
    accepted = {made[name].record_id: made[name] for name in stored}
    candidates = {
        each.record_id: each for each in (*made.values(), *attacks) if each.record_id not in accepted
    }
    held = accepted | candidates
    rows = [alone_of(each, held, accepted) for each in candidates.values()]
    alone = kernels.judged_locally(
        [pa.RecordBatch.from_pylist(rows[:3]), pa.RecordBatch.from_pylist(rows[3:])]
    )
    in_order = [row for batch in kernels.judged_in_order(alone) for row in batch.to_pylist()]
    expected = judge_references(candidates.values(), accepted.values())
    assert len(in_order) == len(expected)
    for row in in_order:
        verdict = expected[row["record_id"]]
        evidence = encode_evidence(verdict.evidence) if verdict.findings else None
        assert (row["status"], tuple(row["found"]), row["shown"], tuple(row["awaited"])) == (
            verdict.status, verdict.reasons, evidence, verdict.waits_for,
        )  # fmt: skip


def test_a_message_of_a_weak_lake_is_judged_without_the_one_before_it():
    entry = read_line(compact(feed()[1]))
    row = alone_of(entry, {}, {}) | {"named": []}
    [found] = [
        row
        for each in kernels.judged_locally([pa.RecordBatch.from_pylist([row])])
        for row in each.to_pylist()
    ]
    assert (found["prev"], found["lacking"], found["absent"], found["found"]) == (None, [], 0, [])


def test_stored_rows_become_lines_that_are_read_as_the_same_entries():
    made = [*example().values(), *(read_line(compact(value)) for value in feed())]
    rows = [{**entry_row(each), "deps": list(each.deps)} for each in made]
    forged = [rows[1] | {"body": None}, *(rows[-1] | {"raw": raw} for raw in (b"x", b"\xff", b"[" * 300))]
    batch = pa.RecordBatch.from_pylist([*rows, *forged])
    content = b"".join(row["content"] for each in kernels.packed([batch]) for row in each.to_pylist())
    found = [each.found for each in read_documents(content, "lines")]
    assert found[: len(made)] == made
    assert [each.reasons for each in found[len(made) :]] == [("FIELD_MISSING",)] * 4
    assert [kernels.stored_entry(row) for row in rows] == made


def test_fork_rows_have_the_evidence_of_the_plain_function():
    from strandline.dialects.devicelog.verify import forks

    pair = [example()["phone 5"], edited()]
    ids = sorted(each.record_id for each in pair)
    row = {"namespace": pair[0].namespace, "bucket": 3, "members": ids, "member_count": 2,
           "pair": [{**entry_row(each), "deps": list(each.deps)} for each in pair]}  # fmt: skip
    [found] = [
        each
        for batch in kernels.fork_rows([pa.RecordBatch.from_pylist([row])], hmac_key=None)
        for each in batch.to_pylist()
    ]
    [expected] = forks([*example().values(), edited()])
    for name in ("equivocation_id", "key", "position", "member_count", "bytes_a", "bytes_b", "evidence"):
        assert found[name] == getattr(expected, name)


def test_the_evidence_of_a_few_forks_is_made_at_once():
    """A fork can have megabytes of evidence, and a batch of Spark thousands of forks."""
    pair = [example()["phone 5"], edited()]
    row = {"namespace": pair[0].namespace, "bucket": 3, "members": [b"a" * 32, b"b" * 32], "member_count": 2,
           "pair": [{**entry_row(each), "deps": list(each.deps)} for each in pair]}  # fmt: skip
    found = list(kernels.fork_rows([pa.RecordBatch.from_pylist([row] * 20)], hmac_key=None))
    assert [each.num_rows for each in found] == [8, 8, 4]


def test_a_rejected_row_judged_again_by_the_same_rules_stays_as_it_is():
    documents = [
        (document, form)
        for form, content in (
            ("lines", b"\n".join(line for line, _ in tampered()) + b'\n{"seq":'),
            ("json", b"[5, {}, [], " + compact({"value": None}) + b", x"),
        )
        for document in read_documents(content, form)
        if not isinstance(document.found, Entry)
    ]
    assert len(documents) > 40
    for document, _ in documents:
        row = {
            "file_no": 1, "namespace": document.found.namespace, "raw": document.raw, "record_id": None,
            "reasons": ",".join(document.reasons), "evidence": encode_evidence(document.found.evidence),
        }  # fmt: skip
        pieces = Pieces(kernels.DOCUMENT_FIELDS)
        for _ in kernels.replay(row, pieces, options()):
            pass
        [found] = [each for batch in pieces.rest() for each in batch.to_pylist()]
        assert (found["kind"], found["raw"], found["damage"]) == (None, document.raw, row["reasons"])


@pytest.mark.parametrize("line", [write_entry(example()["phone 1"]), compact(feed()[0])])
def test_a_row_that_later_rules_accept_becomes_an_entry(line):
    for codes in ("FIELD_UNKNOWN", "SSB_TYPE", "JSON_INVALID,TRUNCATED"):
        row = {
            "file_no": 1,
            "namespace": None,
            "raw": line,
            "record_id": None,
            "reasons": codes,
            "evidence": None,
        }
        pieces = Pieces(kernels.DOCUMENT_FIELDS)
        for _ in kernels.replay(row, pieces, options()):
            pass
        [found] = [each for batch in pieces.rest() for each in batch.to_pylist()]
        is_other_form = codes == "SSB_TYPE" and line.startswith(b'{"group"')
        assert found["kind"] == (None if is_other_form else "block")


def test_an_internal_fault_in_a_whole_file_waits_with_its_format(monkeypatch):
    from strandline.dialects.devicelog.kernels import documents

    def broken(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(documents, "json_documents", broken)
    content = b"[" + compact(feed()[0]) + b"]"
    [row] = rows_of(content, "json")
    assert row["damage"] == "INTERNAL_ERROR"
    monkeypatch.undo()
    pieces = Pieces(kernels.DOCUMENT_FIELDS)
    again = row | {"reasons": row["damage"], "record_id": None}
    for _ in kernels.replay(again, pieces, options()):
        pass
    assert [each["kind"] for batch in pieces.rest() for each in batch.to_pylist()] == ["block"]


def test_the_documents_of_a_device_log_have_the_fields_of_blocks():
    assert kernels.DOCUMENT_FIELDS[: len(blocks.BLOCK_FIELDS)] == blocks.BLOCK_FIELDS
