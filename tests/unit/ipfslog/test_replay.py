"""Rejected documents that are judged again are what they were: cut, claimed, part of a snapshot."""

import json

import pyarrow as pa
import pytest

from strandline.core.encoding.varint import varint
from strandline.core.verdict import encode_evidence
from strandline.dialects.ipfslog.author import to_car, to_json
from strandline.dialects.ipfslog.codec import MAX_CID_CHARS, dag_cbor, parse_dag_cbor, read_documents
from strandline.dialects.ipfslog.kernels import DOCUMENT_FIELDS, replay
from strandline.dialects.ipfslog.types import JsonDocument, Unreadable
from strandline.dialects.ipfslog.verify import verify_block
from strandline.kernels.blocks import replayed
from strandline.kernels.containers import StreamLimits
from strandline.kernels.lines import RawLimits
from strandline.kernels.reading import ReadOptions
from support.ipfslog_cases import dag

ENTRY = dag("v2")["a1"]
LINE = to_json(ENTRY).encode()
SCHEMA = pa.schema(
    [("file_no", pa.int64()), ("part", pa.int64()), ("namespace", pa.string()), ("raw", pa.binary()),
     ("record_id", pa.binary()), ("reasons", pa.string()), ("evidence", pa.string())]
)  # fmt: skip


def again(raw, reasons, evidence=None, *, namespace=None, record_id=None):
    """The pieces of one rejected row, judged again."""
    row = {"file_no": 1, "part": 0, "namespace": namespace, "raw": raw, "record_id": record_id,
           "reasons": ",".join(reasons), "evidence": None if evidence is None else encode_evidence(evidence),
           }  # fmt: skip
    options = ReadOptions({}, StreamLimits(10**6, 100), RawLimits(10**6, 10))
    batch = pa.RecordBatch.from_pylist([row], SCHEMA)
    return [
        found for each in replayed([batch], replay, DOCUMENT_FIELDS, options) for found in each.to_pylist()
    ]


@pytest.mark.parametrize("raw", [b"{", LINE[:-1], b'{"v":2,"v":2'])
def test_a_last_line_without_lf_stays_cut_and_a_whole_one_is_not_called_cut(raw):
    for ending, reasons in ((b"", ["JSON_INVALID", "TRUNCATED"]), (b"\n", ["JSON_INVALID"])):
        [before] = read_documents(raw + ending, "lines")
        assert isinstance(before, Unreadable)
        assert list(before.reasons) == reasons
        [found] = again(raw, before.reasons, before.evidence)
        assert (found["damage"], found["raw"]) == (",".join(reasons), raw)
        assert json.loads(found["evidence"]) == json.loads(encode_evidence(before.evidence))


def test_what_was_cut_with_its_container_keeps_its_reason_even_if_its_bytes_are_good():
    for reasons in (["TRUNCATED"], ["CAR_TRUNCATED"], ["BOMB"]):
        [found] = again(
            LINE, reasons, {reasons[0]: {"expected": 1}}, namespace="log:x", record_id=ENTRY.record_id
        )
        assert (found["damage"], found["raw"]) == (reasons[0], LINE)
        assert json.loads(found["evidence"]) == {reasons[0]: {"expected": 1}}


def test_a_block_comes_back_with_the_address_and_the_log_that_it_claimed():
    claimed, log = dag("v2")["b1"].cid, "another log"
    told = {"HASH_MISMATCH": {"claimed": claimed}, "LOG_ID_MISMATCH": {"expected": log}}
    [found] = again(ENTRY.block, sorted(told), told, record_id=ENTRY.record_id)
    assert (found["kind"], found["raw"], found["claimed"], found["snapshot_id"]) == (
        "block", ENTRY.block, claimed, log,
    )  # fmt: skip
    [found] = again(ENTRY.block, ["SIGNATURE_INVALID"], {}, record_id=ENTRY.record_id)
    assert (found["claimed"], found["snapshot_id"]) == (None, None)


def address_of(content):
    """The text of the content address of these bytes, with the identity hash."""
    return "f" + (b"\x01\x55\x00" + varint(len(content)) + content).hex()


@pytest.mark.parametrize("size", [120, 123, 124])
def test_a_long_address_keeps_its_reason_and_comes_back_whole_as_long_as_it_is_read(size):
    claimed = address_of(bytes(size))
    before = verify_block(ENTRY.block, claimed)
    assert before.reasons == ("CID_UNSUPPORTED" if len(claimed) <= MAX_CID_CHARS else "CID_MALFORMED",)
    [found] = again(ENTRY.block, before.reasons, before.evidence, record_id=ENTRY.record_id)
    assert (found["claimed"] == claimed) == (len(claimed) <= MAX_CID_CHARS)
    after = verify_block(ENTRY.block, found["claimed"])
    assert (after.reasons, after.evidence) == (before.reasons, before.evidence)


WRONG = [None, dag("core2")["b1"].cid, "zb2", address_of(b"x")]


@pytest.mark.parametrize("link", [None, {"next": ["zb2"]}, {"refs": [address_of(b"x")]}, {"identity": "zb2"}])
@pytest.mark.parametrize("log", [None, "another log"])
@pytest.mark.parametrize("claimed", WRONG)
def test_a_block_comes_back_with_what_was_claimed_of_it_and_not_with_a_wrong_link_in_it(claimed, link, log):
    block = dag_cbor(parse_dag_cbor(dag("core2")["a1"].block).value | (link or {}))
    before = verify_block(block, claimed, snapshot_id=log)
    assert before.reasons or not (claimed or link or log)
    [found] = again(block, before.reasons, before.evidence, record_id=before.record_id)
    after = verify_block(found["raw"], found["claimed"], snapshot_id=found["snapshot_id"])
    assert (after.reasons, after.evidence) == (before.reasons, before.evidence)


def test_a_line_of_a_snapshot_is_still_of_the_log_that_its_snapshot_claimed():
    told = {"LOG_ID_MISMATCH": {"field": "id", "expected": "another log", "actual": "strand"}}
    [found] = again(LINE, ["LOG_ID_MISMATCH"], told)
    assert (found["damage"], json.loads(found["evidence"])) == ("LOG_ID_MISMATCH", told)


def test_a_line_that_is_good_by_the_rules_of_today_comes_back_as_an_entry():
    [document] = read_documents(LINE, "lines")
    assert isinstance(document, JsonDocument)
    [found] = again(LINE, ["FIELD_UNKNOWN"], {})
    assert (found["kind"], found["damage"], found["record_id"]) == ("block", None, ENTRY.record_id)


def test_what_met_a_bug_of_ours_is_read_as_the_line_block_or_file_that_it_was():
    fault = {"class": "ZeroDivisionError", "place": "strandline:1"}
    car = to_car([], [ENTRY, dag("v2")["b1"]])
    for raw, more, record_id, ids in (
        (LINE, {}, None, [ENTRY.record_id]),
        (ENTRY.block, {}, ENTRY.record_id, [ENTRY.record_id]),
        (car, {"format": "car"}, None, [ENTRY.record_id, dag("v2")["b1"].record_id]),
        (LINE.replace(b",", b",\n"), {"format": "json"}, None, [ENTRY.record_id]),
    ):
        found = again(raw, ["INTERNAL_ERROR"], {"INTERNAL_ERROR": fault | more}, record_id=record_id)
        assert [(row["damage"], row["record_id"]) for row in found] == [(None, each) for each in ids]
