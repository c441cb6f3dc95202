"""Elements to line facts, and from there to reasons: as the reference judges, for any split into batches."""

import random
from itertools import pairwise

import pandas as pd
import pyarrow as pa
import pytest

from strandline.core.verdict import encode_evidence, evidence_of
from strandline.dialects.sdmp import codec, verify
from strandline.dialects.sdmp.author import synthetic
from strandline.dialects.sdmp.kernels import TEXT_FRAME, line_facts, rejections
from strandline.dialects.sdmp.types import Frame
from support import random_journals

COLUMNS = ("file_no", "part", "frame", "node", "raw", "damage", "claim", "size")


def facts_of(rows: list[tuple], cuts: list[int], *, strict: bool = False) -> list[dict]:
    """The facts of rows that come in batches which end at `cuts`."""
    ends = sorted({min(cut, len(rows)) for cut in cuts} | {0, len(rows)})
    batches = [rows[start:end] for start, end in pairwise(ends)] or [rows]
    series = [
        tuple(
            pd.Series([row[at] for row in batch], dtype=object if at in (3, 4, 5, 6) else "int64")
            for at in range(8)
        )
        for batch in batches
    ]
    found = pd.concat(list(line_facts(series, strict=strict)), ignore_index=True)
    return found.astype(object).where(found.notna(), None).to_dict("records")


def rows_of(frames: list[Frame], first: int = 0) -> list[tuple]:
    return [
        (
            first + number,
            0,
            TEXT_FRAME if frame.since is None else number,
            frame.node,
            raw,
            None,
            None,
            len(raw) + 1,
        )
        for number, frame in enumerate(frames)
        for raw in frame.elements
    ]


def judged(rows: list[tuple], facts: list[dict]) -> list[tuple[tuple[str, ...], str]]:
    """The reasons and the evidence of each row, empty for a candidate."""
    described = [
        {
            "file_no": row[0], "part": row[1], "frame": row[2], "idx": fact["idx"], "node": row[3], "raw": row[4],
            "raw_bytes": len(row[4]), "raw_sha256": None, "hash": fact["hash"], "source_offset": 0,
            "code": fact["code"], "position": fact["idx"] + 1, "expected": fact["expected"], "before": fact["before"],
            "damage": None, "evidence": None,
        }
        for row, fact in zip(rows, facts, strict=True)
    ]  # fmt: skip
    [batch] = rejections([pa.RecordBatch.from_pylist(described)])
    told = batch.to_pylist()
    return [
        (tuple(row["reasons"].split(",")), row["evidence"]) if fact["code"] else ((), "{}")
        for row, fact in zip(told, facts, strict=True)
    ]


def reference(frames: list[Frame], *, strict: bool) -> list[tuple[tuple[str, ...], str]]:
    verdicts = verify.judge(frames[0].node, frames, strict=strict).verdicts
    return [
        (each.reasons, encode_evidence(each.evidence)) if each.status == "rejected" else ((), "{}")
        for each in verdicts
    ]


def journals(seed: int, number: int) -> list[list[Frame]]:
    """The frames of random journals, those of one node together."""
    of_node: dict[str, list[Frame]] = {}
    [run] = random_journals.corpus(seed, number, 1)
    for _, content in sorted(run.items()):
        for _, frame in codec.parse_source(content).frames:
            if isinstance(frame, Frame) and frame.elements:
                of_node.setdefault(frame.node, []).append(frame)
    return list(of_node.values())


@pytest.mark.large
@pytest.mark.parametrize("strict", [False, True])
def test_reasons_and_evidence_are_those_of_the_reference_for_any_batches(strict: bool) -> None:
    rng = random.Random(5)
    rejected = 0
    for frames in journals(3, 50):
        rows = rows_of(frames)
        cuts = [rng.randrange(len(rows) + 1) for _ in range(rng.randrange(5))]
        found = judged(rows, facts_of(rows, cuts, strict=strict))
        assert found == reference(frames, strict=strict)
        rejected += sum(1 for reasons, _ in found if reasons)
    assert rejected > 25


@pytest.mark.large
def test_batches_of_one_row_give_what_one_batch_gives() -> None:
    rows = [row for at, frames in enumerate(journals(4, 15)) for row in rows_of(frames, 100 * at)]
    assert facts_of(rows, list(range(len(rows)))) == facts_of(rows, [])


def test_a_segment_is_a_run_of_neighbours_that_passed_every_check() -> None:
    lines = list(synthetic(0, 6))
    lines[3] = b"broken"
    rows = [(0, 0, TEXT_FRAME, lines[0].decode(), line, None, None, 9) for line in lines]
    facts = facts_of(rows, [2])
    assert [fact["idx"] for fact in facts] == [0, 1, 2, 3, 4, 5]
    assert [fact["head"] for fact in facts if not fact["code"]] == [0, 0, 0, 4, 4]
    assert [fact["bytes_before"] for fact in facts] == [0, 9, 18, 27, 36, 45]


def test_a_line_behind_a_mismatch_starts_a_segment_and_has_a_claim() -> None:
    lines = list(synthetic(0, 6))
    del lines[2]
    rows = [(0, 0, TEXT_FRAME, lines[0].decode(), line, None, None, 9) for line in lines]
    facts = facts_of(rows, [])
    assert [bool(fact["code"]) for fact in facts] == [False, False, True, False, False]
    assert facts[2]["expected"] == codec.line_hash(lines[1])
    assert [fact["head"] for fact in facts if not fact["code"]] == [0, 0, 3, 3]


def test_the_first_line_of_a_later_part_is_left_to_the_border() -> None:
    lines = list(synthetic(0, 5))
    rows = [
        (0, 0 if at < 2 else 390, TEXT_FRAME, lines[0].decode(), line, None, None, 195)
        for at, line in enumerate(lines)
    ]
    facts = facts_of(rows, [])
    assert [fact["border"] for fact in facts] == [False, False, True, False, False]
    assert [fact["head"] for fact in facts] == [0, 0, 0, 1, 1]
    assert not any(fact["code"] for fact in facts)


def test_a_fingerprint_first_in_a_later_part_is_misplaced() -> None:
    node = next(iter(synthetic(0, 1)))
    rows = [(0, 390, TEXT_FRAME, node.decode(), node, None, None, 65)]
    assert facts_of(rows, [])[0]["code"] == 2


def test_a_claim_that_comes_with_an_element_is_held_against_it() -> None:
    lines = list(synthetic(0, 3))
    claim = codec.line_hash(lines[0])
    node = lines[0].decode()
    right = (0, 0, 0, node, lines[1], None, claim, 0)
    wrong = (1, 0, 0, node, lines[2], None, claim, 0)
    assert [fact["code"] for fact in facts_of([right, wrong], [])] == [0, 8]


def test_a_damage_has_no_facts_and_opens_the_claim_of_what_follows() -> None:
    lines = list(synthetic(0, 4))
    node = lines[0].decode()
    rows = [(0, 0, 0, node, lines[0], None, None, 0), (0, 0, 0, None, b"{", "JSON_INVALID", None, 0)]
    rows.append((0, 0, 0, node, lines[3], None, None, 0))
    facts = facts_of(rows, [])
    assert [fact["hash"] is None for fact in facts] == [False, True, False]
    assert facts[2]["code"] == 0


def test_a_line_that_is_judged_again_keeps_the_position_and_the_line_before_of_its_first_verdict() -> None:
    first, second, third = synthetic(0, 3)
    node, claimed = first.decode(), codec.line_hash(first)
    then = verify.number_mismatch(7, claimed, codec.line_hash(second), first)
    told = encode_evidence(evidence_of([then]))
    row = {
        "file_no": 0, "part": 0, "frame": 0, "idx": 0, "node": node, "raw": third, "raw_bytes": len(third),
        "raw_sha256": None, "hash": None, "source_offset": 0, "code": 8, "position": 1, "expected": claimed,
        "before": None, "damage": None, "evidence": told,
    }  # fmt: skip
    [batch] = rejections([pa.RecordBatch.from_pylist([row])])
    [again] = batch.to_pylist()
    assert (again["reasons"], again["evidence"]) == ("LINE_NUMBER_MISMATCH", told)
