"""Claims about blocks: what does not fit makes another id to judge, and texts of just the longest are ids."""

import hashlib
import json
from itertools import product

import pyarrow as pa
import pytest

from strandline.dialects.ipfslog.author import to_json
from strandline.dialects.ipfslog.codec import read_documents
from strandline.dialects.ipfslog.info import PROFILE
from strandline.dialects.ipfslog.kernels import judge
from strandline.dialects.ipfslog.kernels.claims import is_log_id, judge_id
from strandline.dialects.ipfslog.kernels.documents import DOCUMENT_FIELDS, DocumentPieces
from strandline.dialects.ipfslog.types import MAX_BLOCK_BYTES, MAX_ID_BYTES, BlockDocument
from strandline.dialects.ipfslog.verify import Refused, as_block
from strandline.kernels.containers import StreamLimits
from strandline.kernels.lines import RawLimits
from strandline.kernels.pieces import Pieces
from strandline.kernels.reading import ReadOptions
from support.ipfslog_cases import dag, who

OPTIONS = ReadOptions({PROFILE: "strict"}, StreamLimits(2**36, 100), RawLimits(10, 4))


def row_of(document: BlockDocument) -> dict:
    pieces = Pieces(DOCUMENT_FIELDS)
    DocumentPieces(7, 0, pieces, OPTIONS).add(document, None, 0)
    [row] = pa.Table.from_batches(pieces.rest()).to_pylist()
    return row


def test_each_claim_makes_another_id_to_judge_also_an_empty_one() -> None:
    digest = bytes(32)
    claims = [*product((None, "", "a", "b"), (None, "", "a", "b"))]
    assert len({judge_id(digest, *each) for each in claims}) == len(claims)
    assert judge_id(digest, None, None) == digest


def test_of_two_copies_in_a_snapshot_of_another_log_an_empty_address_is_told_of_one_alone() -> None:
    made = dag("v2")["b1"]
    right, empty = (row_of(BlockDocument(made.block, cid, 0, "another log")) for cid in (made.cid, ""))
    assert (right["claimed"], empty["claimed"]) == (None, "")
    verdicts = [judge(made.block, row, OPTIONS)["reasons"] for row in (right, empty)]
    assert verdicts == [["LOG_ID_MISMATCH"], ["CID_MALFORMED", "LOG_ID_MISMATCH"]]
    # Rows of one id to judge share one verdict.
    assert right["judge_id"] != empty["judge_id"]


@pytest.mark.parametrize(
    ("size", "is_one"), [(0, False), (1, True), (MAX_ID_BYTES, True), (MAX_ID_BYTES + 1, False)]
)
def test_a_log_has_an_id_of_one_byte_up_to_the_most(size: int, is_one: bool) -> None:
    assert is_log_id("x" * size) is is_one
    assert is_log_id("é" * (MAX_ID_BYTES // 2 + 1)) is False


@pytest.mark.parametrize("more", [0, 1])
def test_a_block_of_just_the_most_bytes_is_one_and_a_larger_is_refused(more: int) -> None:
    block = bytes(MAX_BLOCK_BYTES + more)
    row = row_of(BlockDocument(block, None, 0))
    assert row["damage"] == ("BLOCK_TOO_LARGE" if more else None)
    assert (row["record_id"], row["raw_bytes"]) == (hashlib.sha256(block).digest(), len(block))


def test_a_block_without_a_log_contradicts_no_snapshot_around_it() -> None:
    block = who("alice", "core2").record.block
    row = row_of(BlockDocument(block, None, 0, "a log"))
    assert (row["judge_id"], row["snapshot_id"], row["namespace"]) == (row["record_id"], None, None)


@pytest.mark.parametrize("link", ["zb2", 7])
def test_a_json_entry_that_is_refused_has_no_id_and_tells_its_log_and_its_wrong_link(link: object) -> None:
    made = dag("v2")["b1"]
    value = json.loads(to_json(made)) | {"next": [link]}
    [document] = read_documents(json.dumps(value).encode(), "lines")
    refused = as_block(document)
    assert isinstance(refused, Refused)
    assert (refused.record_id, refused.namespace) == (None, made.namespace)
    if isinstance(link, str):
        assert refused.evidence == {"CID_MALFORMED": {"field": "next[0]", "actual": "zb2"}}
