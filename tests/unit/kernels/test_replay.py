"""Announced elements that were refused are judged anew once their node is own."""

import hashlib
import json

import pyarrow as pa
import pytest

from strandline.core.verdict import encode_evidence
from strandline.dialects.sdmp.author import synthetic_id
from strandline.dialects.sdmp.codec import announce, parse_frame, truncated
from strandline.dialects.sdmp.info import STRICT
from strandline.dialects.sdmp.kernels import ANNOUNCED
from strandline.dialects.sdmp.kernels.replay import replayed
from strandline.dialects.sdmp.verify import judge_announcement
from strandline.kernels.containers import StreamLimits
from strandline.kernels.lines import RawLimits
from strandline.kernels.reading import ReadOptions

NODE, OTHER = synthetic_id("node", 1), synthetic_id("node", 2)
PAIRS = [(synthetic_id("author", 1), synthetic_id("resource", k)) for k in (5, 3, 4)]
SCHEMA = pa.schema(
    [("file_no", pa.int64()), ("stays_as", pa.int64()), ("raw", pa.binary()), ("reasons", pa.string()),
     ("node", pa.string()), ("evidence", pa.string())]
)  # fmt: skip


def refused(frame: bytes) -> list[dict]:
    """The rows of quarantine that a frame of a node that is not own becomes."""
    return [
        {"file_no": 7, "raw": each.raw, "reasons": ",".join(each.reasons), "node": each.node,
         "evidence": encode_evidence(each.evidence)}
        for each in judge_announcement(parse_frame(frame))
    ]  # fmt: skip


def again(rows: list[dict], own: set[str], *, strict: bool = False) -> list[dict]:
    options = ReadOptions(
        {STRICT: "strict" if strict else "weak"}, StreamLimits(10**6, 100), RawLimits(10**6, 10)
    )
    batch = pa.RecordBatch.from_pylist(rows, SCHEMA)
    return [row for found in replayed([batch], options, own) for row in found.to_pylist()]


def test_elements_are_landed_at_their_place_in_the_frame_once_the_node_is_own():
    rows = refused(announce(NODE, PAIRS, 9))
    found = again(rows, {NODE})
    assert [row["damage"] for row in found] == [ANNOUNCED] * 3
    places = [json.loads(row["evidence"]) for row in found]
    assert [(place["author_fp"], place["resource_id"]) for place in places] == PAIRS
    assert [place["frame_no"] for place in places] == [0, 1, 2]
    assert {(place["seq"], place["pos"]) for place in places} == {(None, 0)}
    assert [place["frame_hash"] for place in places] == [
        hashlib.sha256(row["raw"]).hexdigest() for row in rows
    ]


def test_elements_of_a_node_that_is_not_own_stay_what_they_are():
    rows = refused(announce(NODE, PAIRS))
    for row, before in zip(again(rows, {OTHER}), rows, strict=True):
        assert (row["damage"], row["evidence"], row["raw"]) == (
            before["reasons"],
            before["evidence"],
            before["raw"],
        )


@pytest.mark.parametrize("id_", ["x", "\ud800", '"'])
def test_an_element_that_is_no_id_is_refused_for_that_at_its_position(id_):
    frame = json.dumps({"node": NODE, "resources": [{"author": id_, "resource": PAIRS[0][1]}] * 2}).encode()
    for position, row in enumerate(again(refused(frame), {NODE}), start=1):
        assert row["damage"] == "BAD_AUTHOR"
        assert json.loads(row["evidence"])["BAD_AUTHOR"]["position"] == position


@pytest.mark.parametrize("last", [b"{", announce(NODE, PAIRS)[:-9], b'{"node":"x","node":1'])
def test_a_last_frame_without_lf_is_refused_as_it_was_and_a_whole_one_is_not_called_cut(last):
    cut = truncated(parse_frame(last))
    assert set(cut.reasons) == {"JSON_INVALID", "TRUNCATED"}
    whole = parse_frame(last)
    for before in (cut, whole):
        row = {"file_no": 7, "raw": last, "reasons": ",".join(before.reasons), "node": None,
               "evidence": encode_evidence(before.evidence)}  # fmt: skip
        [found] = again([row], set())
        assert (found["damage"], found["evidence"], found["raw"]) == (
            row["reasons"], row["evidence"], row["raw"],
        )  # fmt: skip
