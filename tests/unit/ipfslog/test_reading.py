"""Files read in tasks hold the documents that the reference reads, whatever their size and container."""

import base64
import gzip
import json
from dataclasses import replace
from itertools import pairwise, product

import pyarrow as pa
import pytest

from strandline.core.encoding.varint import varint
from strandline.core.verdict import encode_evidence
from strandline.dialects.ipfslog.author import to_blocks, to_car, to_json, to_lines
from strandline.dialects.ipfslog.codec import (
    address_text,
    canonical_cid,
    car,
    dag_cbor,
    parse_cid,
    parse_cid_bytes,
    parse_dag_cbor,
    read_documents,
)
from strandline.dialects.ipfslog.info import PROFILE
from strandline.dialects.ipfslog.kernels import DOCUMENT_FIELDS, cars, documents, judge, read_content
from strandline.dialects.ipfslog.kernels.entries import ENTRY_FACTS, facts_of
from strandline.dialects.ipfslog.types import (
    MAX_BLOCK_BYTES,
    BlockDocument,
    Cid,
    HeadClaim,
    JsonDocument,
    Unreadable,
    record_id,
)
from strandline.dialects.ipfslog.verify import Refused, as_block, check_block, read_element
from strandline.kernels.containers import StreamLimits
from strandline.kernels.lines import RawLimits
from strandline.kernels.reading import LISTED, ReadOptions, read_files
from support.ipfslog_cases import dag, who
from support.ipfslog_reference import FORMATS
from support.random_deliveries import corpus

OPTIONS = ReadOptions({}, StreamLimits(2**36, 100), RawLimits(4 << 20, 64 << 10))
V2 = list(dag("v2").values())


def pieces(data, form, splits=((0, None),)):
    rows = [
        {
            "file_no": 0,
            "format": form,
            "path": b"",
            "content": data,
            "part": start,
            "until": end,
            "label": None,
        }
        for start, end in splits
    ]
    batches = [pa.RecordBatch.from_pylist([row], LISTED) for row in rows]
    found = read_files(batches, OPTIONS, read_content, DOCUMENT_FIELDS)
    return [row for batch in found for row in batch.to_pylist()]


def told(rows):
    """Of a block its bytes and whether it is what it claims to be; of the rest what the verdict says."""
    found = []
    for row in rows:
        if row["kind"] in ("block", "shared"):
            is_own = row["claimed"] is None and row["snapshot_id"] is None
            assert is_own == (row["judge_id"] == row["record_id"])
            found.append((row["kind"], row["offset"], row["raw"], row["claimed"], row["record_id"]))
        elif row["kind"] is None:
            assert row["raw_sha256"] is None
            found.append((row["damage"], row["offset"], row["raw"], row["evidence"], row["record_id"]))
        else:
            found.append((row["kind"], row["record_id"]))
    return found


def expected(data, form):
    found = []
    for document in read_documents(data, form):
        if isinstance(document, HeadClaim):
            found.append(("claim", document.digest))
            continue
        block = document
        if isinstance(document, JsonDocument):
            made = as_block(document)
            block = made if isinstance(made, Refused) else made[0]
        if not isinstance(document, Unreadable) and document.is_head:
            found.append(("claim", head(document, block)))
        if isinstance(block, BlockDocument) and len(block.block) > MAX_BLOCK_BYTES:
            block = refused(read_element(block, "strict"))
        if isinstance(block, Unreadable | Refused):
            reasons, evidence = ",".join(block.reasons), encode_evidence(block.evidence)
            found.append((reasons, document.offset, block.raw, evidence, getattr(block, "record_id", None)))
        elif isinstance(block.claimed, bytes) and not isinstance(parse_cid_bytes(block.claimed), Cid):
            found.append(("foreign", None))
        else:
            found.append(block_told(document, block))
    return found


def refused(element):
    [finding] = element.findings
    evidence = {finding.reason: finding.evidence}
    return Refused((finding.reason,), element.block, element.record_id, evidence)


def block_told(document, block):
    digest, claimed = record_id(block.block), block.claimed
    cid = parse_cid(claimed) if isinstance(claimed, str) else parse_cid_bytes(claimed) if claimed else None
    is_own = claimed is None or (isinstance(cid, Cid) and cid.digest == digest)
    text = address_text(claimed) if isinstance(claimed, bytes) else claimed
    kind = "shared" if isinstance(claimed, bytes) else "block"
    return kind, document.offset, block.block, None if is_own else text, digest


def head(document, block):
    claimed = document.claimed if isinstance(document, BlockDocument) else document.value.get("hash")
    cid = parse_cid(claimed) if isinstance(claimed, str) else None
    if isinstance(cid, Cid):
        return cid.digest
    return block.record_id if isinstance(block, Refused) else record_id(block.block)


@pytest.mark.large
def test_files_of_random_logs_are_read_as_the_reference_reads_them():
    read = 0
    for files in corpus(5, 400, 2):
        for name, data in files.items():
            form = FORMATS[name[name.rindex(".") :]]
            rows = pieces(data, form)
            assert told(rows) == expected(data, form), name
            assert told(pieces(gzip.compress(data), form)) == expected(data, form), name
            read += len(rows)
    assert read > 3000


@pytest.mark.parametrize(
    "size", [*(pytest.param(size, marks=pytest.mark.large) for size in (1, 7)), 300, 5000]
)
def test_splits_of_a_file_of_lines_hold_each_line_once(size):
    data = b"\xef\xbb\xbf" + to_lines(V2) + to_blocks(V2) + b"\r\n{\n" + to_lines(V2)[:-9]
    whole = told(pieces(data, "lines"))
    assert whole == expected(data, "lines")
    ends = [*range(0, len(data), size), len(data)]
    assert told(pieces(data, "lines", list(pairwise(ends)))) == whole


def a_car():
    return to_car(V2[-1:], V2[:2], [who("alice").record])


@pytest.mark.large
def test_a_car_cut_at_any_byte_costs_its_last_section_alone():
    data = a_car()
    for end in range(len(data) + 1):
        assert told(pieces(data[:end], "car")) == expected(data[:end], "car"), end


@pytest.mark.large
def test_a_car_with_any_byte_changed_is_read_as_the_reference_reads_it():
    data = a_car()
    for at in range(0, len(data), 3):
        other = data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]
        assert told(pieces(other, "car")) == expected(other, "car"), at


SHUT = {
    "CONTAINER_UNSUPPORTED": b"PK\x03\x04" + bytes(100),
    "TRUNCATED": gzip.compress(b"x" * 99, mtime=0)[:10],
    "CONTAINER_NESTED": gzip.compress(gzip.compress(b"x", mtime=0), mtime=0),
}


@pytest.mark.parametrize("form", FORMATS.values())
@pytest.mark.parametrize("damage", SHUT)
def test_a_container_that_gives_no_byte_is_one_row_with_the_bytes_of_the_file(damage, form):
    [row] = pieces(SHUT[damage], form)
    assert (row["damage"], row["raw"]) == (damage, SHUT[damage])


def section(cid, size):
    return varint(len(cid) + size) + cid + b"\x00" * size


OWN = parse_cid(V2[0].cid).raw
FOREIGN = b"\x01\x55\x12\x20" + b"\x07" * 32
LONG_CID = b"\x01\x55\x00" + varint(9 << 20)
CARS = {
    "a mark of text at the start": b"\xef\xbb\xbf" + a_car(),
    "nothing": b"",
    "a header that claims 2^63 bytes": b"\xff" * 8 + b"\x7f",
    "a block that is too large": car([], [])
    + section(OWN, MAX_BLOCK_BYTES + 1)
    + a_car()[len(car([], [])) :],
    "a block that is larger than what is held": car([], []) + section(OWN, 9 << 20) + section(OWN, 3),
    "a larger block behind one of 2 MiB": car([], [])
    + section(OWN, MAX_BLOCK_BYTES)
    + section(OWN, 9 << 20)
    + section(OWN, 3),
    "a large block of others": car([], []) + section(FOREIGN, 9 << 20) + section(OWN, 3),
    "an address of megabytes": car([], []) + section(LONG_CID, 9 << 20) + section(OWN, 3),
    "a large section of no address": car([], []) + section(b"\x02", 9 << 20) + section(OWN, 3),
    "a large section that is cut": car([], []) + section(OWN, 9 << 20)[:-1],
    "a claimed length of 2^62": car([], []) + varint(2**62) + OWN,
}


@pytest.mark.parametrize("name", CARS)
def test_a_car_is_read_in_the_memory_of_a_few_blocks(name, monkeypatch):
    data = CARS[name]
    held = []
    rest = cars._Window.fill

    def fill(window):
        found = rest(window)
        held.append(len(window.data))
        return found

    monkeypatch.setattr(cars._Window, "fill", fill)
    found = []
    for row in pieces(data, "car"):
        if row["raw_sha256"] is not None:
            assert len(row["raw"]) == OPTIONS.keep.head_bytes
        found.append((row["damage"], row["offset"], row["raw_bytes"], row["evidence"]))
    wanted = []
    for document in read_documents(data, "car"):
        if isinstance(document, Unreadable):
            reasons = ",".join(document.reasons)
            wanted.append((reasons, document.offset, len(document.raw), encode_evidence(document.evidence)))
    assert [row for row in found if row[0] is not None] == wanted
    assert max(held) <= 3 * cars.WINDOW_BYTES + (1 << 20)


@pytest.mark.large
def test_the_elements_of_one_line_leave_in_batches_as_they_are_read():
    line = b'{"id":"x","values":[' + b",".join([b"0"] * 50_000) + b"]}\n"
    options = ReadOptions({}, StreamLimits(2**40, 10**6), RawLimits(4 << 20, 65_536))
    rows = [
        {
            "file_no": 0,
            "format": "lines",
            "path": b"",
            "content": line,
            "part": 0,
            "until": None,
            "label": None,
        }
    ]
    batches = read_files([pa.RecordBatch.from_pylist(rows)], options, read_content, DOCUMENT_FIELDS)
    assert [batch.num_rows for batch in batches] == [20_000, 20_000, 10_000]


def test_a_fault_of_ours_costs_a_line_and_waits_for_mended_rules(monkeypatch):
    def broken(*_args, **_more):
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(documents, "judge_id", broken)
    first, second = pieces(to_lines(V2[:2]), "lines")
    assert (first["damage"], second["damage"]) == ("INTERNAL_ERROR", "INTERNAL_ERROR")
    assert json.loads(first["evidence"])["INTERNAL_ERROR"]["class"] == "ZeroDivisionError"
    assert "secret" not in first["evidence"]
    [whole] = pieces(to_car([], V2[:2]), "car")
    assert whole["damage"] == "INTERNAL_ERROR"
    assert json.loads(whole["evidence"])["INTERNAL_ERROR"]["format"] == "car"


@pytest.mark.parametrize("form", ["lines", "json"])
def test_no_row_of_a_snapshot_repeats_its_long_id_or_has_a_long_address(form):
    # 664 kB of such a snapshot were 3.2 GB of rows: more than a column of Arrow takes, so that the task failed.
    element = {"cid": "z" * 5_000, "data": base64.b64encode(V2[0].block).decode()}
    data = json.dumps({"id": "i" * 500_000, "values": [element] * 20}).encode()
    rows = pieces(data, form)
    assert [row["kind"] for row in rows] == ["block"] * 20
    assert len({row["judge_id"] for row in rows} | {V2[0].record_id}) == 2
    assert all(len(row["claimed"]) + len(row["snapshot_id"]) < 500 for row in rows)


@pytest.mark.parametrize("is_claimed", [True, False])
@pytest.mark.parametrize("is_refused", [True, False])
def test_the_head_of_a_snapshot_is_the_address_that_it_claims_and_that_of_its_block_without_one(
    is_claimed, is_refused
):
    other, head_of = V2[1], V2[0]
    value = json.loads(to_json(head_of)) | {"hash": other.cid}
    if is_refused:
        value["payload"] = "x" * MAX_BLOCK_BYTES
    if not is_claimed:
        del value["hash"]
    claim, row = pieces(json.dumps({"id": head_of.log_id, "heads": [value], "values": []}).encode(), "json")
    assert (claim["kind"], row["damage"]) == ("claim", "BLOCK_TOO_LARGE" if is_refused else None)
    assert claim["record_id"] == (other.record_id if is_claimed else row["record_id"])


LONG_ID = "".join(chr(ord("a") + at * at % 23) for at in range(2_000))


@pytest.mark.parametrize("log_id", ["strand", LONG_ID[:200], LONG_ID[:201], LONG_ID[:1_024], LONG_ID])
def test_what_is_kept_of_long_claims_gives_the_verdict_of_the_whole_ones(log_id):
    block = dag_cbor(parse_dag_cbor(V2[0].block).value | {"id": log_id})
    options = replace(OPTIONS, lake_options={PROFILE: "strict"})
    snapshots = ("strand", *(LONG_ID[:size] for size in (200, 201, 202, 203, 2_000)))
    for told_id, claimed in product(
        snapshots, (canonical_cid(record_id(block), "core2"), "z" * 257, "f" * 9_999)
    ):
        element = {"cid": claimed, "data": base64.b64encode(block).decode()}
        [row] = pieces(json.dumps({"id": told_id, "values": [element]}).encode(), "json")
        found = judge(row["raw"], row, options)
        whole = facts_of(check_block(block, claimed, "strict", snapshot_id=told_id))
        wanted = dict(zip(ENTRY_FACTS, whole, strict=True))
        assert {name: found[name] for name in wanted} == wanted
        assert ("LOG_ID_MISMATCH" in found["reasons"]) == (told_id != log_id)
