"""Checks of device logs and Scuttlebutt feeds: lines, files, bodies, rows that are judged again."""

import pyarrow as pa

from fuzz.files import AGAIN, LIMITS, RAW
from fuzz.values import in_bounded_memory
from strandline.core.encoding.strict_json import JsonRefused
from strandline.dialects.devicelog import kernels
from strandline.dialects.devicelog.codec import (
    DOCUMENT_FORMATS,
    block_of,
    netstrings,
    parse_netstrings,
    parse_statement,
    read_documents,
    read_line,
    read_value,
    ssb_text,
    write_body,
    write_message,
)
from strandline.dialects.devicelog.info import SSB_HMAC_KEY, SSB_PROFILE
from strandline.dialects.devicelog.types import Entry
from strandline.dialects.devicelog.verify import forks, judge_documents
from strandline.kernels.blocks import replayed
from strandline.kernels.reading import ReadOptions


def device_files_are_read(raw: bytes) -> None:
    """Every record is an entry that is written as it was read, or bytes of the file with their reasons."""
    for form in DOCUMENT_FORMATS:
        for document in in_bounded_memory(lambda form=form: list(read_documents(raw, form)), len(raw)):
            assert raw[document.offset :].startswith(document.raw)
            if isinstance(document.found, Entry):
                written_again(document.found)
            else:
                assert document.reasons
                assert all(finding.reason in document.reasons for finding in document.found.findings)


def written_again(entry: Entry) -> None:
    assert read_line(block_of(entry)) == entry
    if entry.raw is not None:
        assert read_line(write_message(entry)) == entry


def entries_are_admitted(raw: bytes) -> None:
    """Every record ends in one place; what is admitted is known when it comes again."""
    for form in DOCUMENT_FORMATS:
        documents = list(read_documents(raw, form))
        for profile in ("strict", "weak"):
            first = judge_documents(documents, None, profile)
            counts = first.counts
            assert (
                counts.read == counts.new + counts.known + counts.rejected + counts.deferred == len(documents)
            )
            again = judge_documents(documents, first.held, profile)
            assert (again.counts.new, again.held) == (0, first.held)
            assert all(len(each.members) > 1 for each in forks(first.accepted, profile))


def bodies_are_written_as_they_were_read(raw: bytes) -> None:
    fields = parse_netstrings(raw)
    assert fields is None or netstrings(*fields) == raw
    for kind in ("key", "add-log", "remove-log", "screw"):
        for founds in (None, b"\x01" * 32):
            statement = parse_statement(kind, raw, founds=founds)
            assert statement is None or write_body(statement) == raw


def javascript_texts_are_stable(raw: bytes) -> None:
    """What JSON.stringify writes, JSON.parse reads as the same value, and it is UTF-8."""
    try:
        value = read_value(raw)
    except JsonRefused:
        return
    text = ssb_text(value)
    assert ssb_text(read_value(text.encode("utf-8"))) == text


def rejected_entries_are_judged_again(raw: bytes) -> None:
    options = ReadOptions({SSB_PROFILE: "strict", SSB_HMAC_KEY: ""}, LIMITS, RAW)
    codes = ("JSON_INVALID", "JSON_INVALID,TRUNCATED", "SSB_TYPE", "FIELD_UNKNOWN", "SIGNATURE_INVALID")
    rows = [
        {"file_no": number, "part": 0, "raw": raw, "reasons": code, "evidence": "{}"}
        for number, code in enumerate(codes)
    ]
    rows[-1]["record_id"] = bytes(32)
    batch = pa.RecordBatch.from_pylist(rows, AGAIN)
    for found in replayed([batch], kernels.replay, kernels.DOCUMENT_FIELDS, options):
        assert not any("INTERNAL_ERROR" in (row["damage"] or "") for row in found.to_pylist())
