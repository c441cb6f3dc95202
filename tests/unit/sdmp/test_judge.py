import json
import random

import pytest

from strandline.core.verdict import MAX_EVIDENCE_BYTES, encode_evidence
from strandline.dialects.sdmp.author import append, synthetic, synthetic_id
from strandline.dialects.sdmp.codec import line_hash, parse_frame, record_id
from strandline.dialects.sdmp.types import Frame
from strandline.dialects.sdmp.verify import judge, non_canonical, refused_announcement
from strandline.dialects.sdmp.verify.elements import well_placed
from support.reference import ReferenceLake

J = list(synthetic(0, 6))
K = list(synthetic(0, 4, "0.12"))
NODE = J[0].decode()


def frame(*lines, since=NODE):
    return Frame(NODE, "0.9", since, lines)


def counted(judgement):
    return {
        name: getattr(judgement, name)
        for name in ("read", "new", "known", "rejected", "deferred", "readmitted")
        if getattr(judgement, name)
    }


def statuses(judgement):
    return [delivery.status for delivery in judgement.verdicts]


def test_a_mismatch_shows_the_line_before_and_says_that_either_may_be_damaged():
    broken = [*J[:2], b"0" + J[2][1:], *J[3:]]
    third = judge(NODE, [broken]).verdicts[2]
    assert third.evidence == {
        "LINE_NUMBER_MISMATCH": {
            "position": 3,
            "expected": line_hash(J[1]),
            "actual": "0" + J[2][1:64].decode(),
            "line_before": J[1].decode(),
            "note": "either the line before or this number is damaged: the line before is not covered, "
            "the chain cannot tell",
        }
    }


def test_every_reason_of_checks_7_to_9_is_reported_at_once():
    odd = K[2][:85] + b"B" + K[2][86:]
    judgement = judge(K[0].decode(), [[K[0], K[1], odd]], strict=True, own=True)
    assert judgement.verdicts[2].reasons == ("LINE_NUMBER_MISMATCH", "NON_CANONICAL_ID", "OWN_LINE_NOT_HELD")
    assert set(judgement.verdicts[2].evidence) == set(judgement.verdicts[2].reasons)


def test_an_element_that_failed_check_7_still_binds_the_next_line():
    odd = K[1][:-1] + b"B"
    following = next(append(odd, [(synthetic_id("author", 1, "0.12"),) * 2], "0.12"))
    judgement = judge(K[0].decode(), [[K[0], odd, following, K[2]]], strict=True)
    assert [delivery.reasons for delivery in judgement.verdicts] == [
        (),
        ("NON_CANONICAL_ID",),
        ("PREDECESSOR_UNKNOWN",),
        ("LINE_NUMBER_MISMATCH",),
    ]


def test_an_element_that_failed_check_8_still_binds_the_next_line():
    judgement = judge(NODE, [[J[0], J[2], J[3]]])
    assert [delivery.reasons for delivery in judgement.verdicts] == [
        (),
        ("LINE_NUMBER_MISMATCH",),
        ("PREDECESSOR_UNKNOWN",),
    ]


@pytest.mark.parametrize("open_claim", [b"", b"x", J[0]])
def test_an_element_that_failed_check_5_or_6_binds_nothing(open_claim):
    judgement = judge(NODE, [[*J[:2], open_claim, J[4]], [J[2], J[3]]])
    assert statuses(judgement) == ["accepted", "accepted", "rejected", "accepted", "accepted", "accepted"]


def test_a_line_rejected_in_one_frame_is_accepted_when_another_delivers_it():
    judgement = judge(NODE, [[J[0], J[2]], [J[2]], [J[1]]])
    assert statuses(judgement) == ["accepted", "rejected", "accepted", "accepted"]
    assert counted(judgement) == {"read": 4, "new": 3, "rejected": 1}


def test_line_1_is_implied_by_any_accepted_line_and_not_counted():
    judgement = judge(NODE, [frame(J[1])])
    assert counted(judgement) == {"read": 1, "new": 1}
    assert judgement.accepted == {record_id(J[0]): 1, record_id(J[1]): 2}
    assert judgement.lines == {record_id(J[0]): J[0], record_id(J[1]): J[1]}


def test_line_1_alone_is_no_row_while_nothing_is_accepted():
    judgement = judge(NODE, [frame(J[2])])
    assert (judgement.accepted, judgement.lines) == ({}, {})


def test_an_implied_line_1_is_known_when_a_later_run_delivers_it():
    assert counted(judge(NODE, [J[:2]], held=[J[1]])) == {"read": 2, "known": 2}


def test_the_second_delivery_in_one_run_is_known():
    assert counted(judge(NODE, [J[:3], J[:3]])) == {"read": 6, "new": 3, "known": 3}


def test_a_waiting_line_is_readmitted_and_its_next_delivery_is_known():
    judgement = judge(NODE, [J[:4]], waiting=[J[2], J[5]])
    assert counted(judgement) == {"read": 4, "new": 3, "known": 1, "readmitted": 1}
    assert set(judgement.lines.values()) == set(J[:4])


def test_rows_held_are_the_sum_of_new_readmitted_and_implied_lines():
    first = judge(NODE, [frame(J[2], J[3])])
    second = judge(NODE, [frame(J[1], J[2])], waiting=[J[2], J[3]])
    assert (first.new, first.readmitted, len(first.lines)) == (0, 0, 0)
    assert second.new + second.readmitted + 1 == len(second.lines) == 4


def test_a_line_both_held_and_waiting_is_not_readmitted():
    assert counted(judge(NODE, [], held=J[:3], waiting=[J[1]])) == {}


def test_waiting_lines_are_admitted_without_any_frame():
    judgement = judge(NODE, [], held=J[:3], waiting=[J[4], J[3]])
    assert judgement.readmitted == 2
    assert judgement.accepted[record_id(J[4])] == 5


def test_a_deferred_line_waits_for_the_line_with_its_number():
    (only,) = judge(NODE, [frame(J[3], since=J[2][:64].decode())]).verdicts
    assert only.waits_for == (f"line:{J[3][:64].decode()}",)
    assert only.evidence == {"PREDECESSOR_UNKNOWN": {"position": 1, "since": J[2][:64].decode()}}


def test_a_line_of_an_own_node_must_be_held_or_restored():
    assert statuses(judge(NODE, [J[:3]], held=J[:2], own=True)) == ["accepted", "accepted", "rejected"]
    judgement = judge(NODE, [[*J[:2], J[2]]], held=J[:2], own=True)
    assert judgement.verdicts[2].reasons == ("OWN_LINE_NOT_HELD",)
    assert judgement.verdicts[2].evidence["OWN_LINE_NOT_HELD"]["actual"] == line_hash(J[2])
    assert statuses(judge(NODE, [J[:3]], held=J[:2], own=True, restore=True)) == ["accepted"] * 3


def test_a_waiting_line_of_an_own_node_stays_until_a_restore():
    assert judge(NODE, [], held=J[:2], waiting=[J[2]], own=True).readmitted == 0
    assert judge(NODE, [], held=J[:2], waiting=[J[2]], own=True, restore=True).readmitted == 1


def test_line_1_of_an_own_node_tells_nothing_new():
    assert statuses(judge(NODE, [J[:1]], own=True)) == ["accepted"]


@pytest.mark.parametrize(
    ("lines", "since", "wrong"),
    [
        (J[0:2], J[0], 0),
        (J[1:2], J[0], 0),
        (J[2:4], J[1], 0),
        (J[0:2], J[1], 1),
        (J[1:2], J[1], 1),
        (J[2:4], J[0], 1),
        (J[2:4], J[2], 1),
        ([], J[2], 0),
        ([b"x", J[1]], J[4], 0),
    ],
)
def test_a_since_is_right_if_it_is_the_number_of_the_line_before_the_first(lines, since, wrong):
    judgement = judge(NODE, [frame(*lines, since=since[:64].decode())], held=J[:2])
    assert judgement.since_mismatch == wrong


def test_a_since_before_an_unknown_line_is_not_judged():
    assert judge(NODE, [frame(J[4], since=NODE)], held=J[:2]).since_mismatch == 0


@pytest.mark.parametrize(
    ("lines", "shorter"),
    [
        (J[:3], 1),
        (J[:1], 1),
        (J[:4], 0),
        (J[:5], 0),
        ([*J[:3], b"x"], 0),
        ([*J[:2], J[2][:-1] + b"0"], 0),
    ],
)
def test_a_text_journal_that_ends_before_held_lines_is_counted(lines, shorter):
    assert judge(NODE, [lines], held=J[:4]).shorter_journals == shorter


def test_a_batch_that_ends_before_held_lines_is_no_shorter_journal():
    assert judge(NODE, [frame(*J[1:3])], held=J[:4]).shorter_journals == 0


def test_a_journal_is_not_shorter_than_lines_that_come_in_the_same_run():
    assert judge(NODE, [J[:3], J]).shorter_journals == 0


@pytest.mark.parametrize(
    ("raw", "position", "expected"),
    [
        (b"", 1, "MALFORMED_LINE"),
        (K[0], 2, "FIRST_LINE_MISPLACED"),
        (K[0][:-1] + b"B", 1, "FIRST_LINE_MISPLACED"),
    ],
)
def test_one_element_is_checked_alone(raw, position, expected):
    assert well_placed(raw, node=K[0].decode(), profile="0.12", position=position).reason == expected


def test_one_good_element_is_a_line_and_its_ids_may_not_be_canonical():
    for raw, position in ((K[0], 1), (K[1], 2)):
        line = well_placed(raw, node=K[0].decode(), profile="0.12", position=position)
        assert (line.raw, non_canonical(line, position)) == (raw, None)
    odd = well_placed(K[1][:-1] + b"B", node=K[0].decode(), profile="0.12", position=2)
    assert odd.raw == K[1][:-1] + b"B"
    assert non_canonical(odd, 2).reason == "NON_CANONICAL_ID"


def test_a_refused_announcement_is_one_row_per_element_of_its_node():
    pair = {"author": "a", "resource": "r", "more": 1}
    announced = parse_frame(json.dumps({"node": NODE, "resources": [pair, pair]}).encode())
    damages = refused_announcement(announced)
    assert [(damage.reasons, damage.raw, damage.node) for damage in damages] == [
        (("NOT_OWN_NODE",), b'{"author":"a","resource":"r"}', NODE)
    ] * 2
    assert [damage.evidence["NOT_OWN_NODE"]["position"] for damage in damages] == [1, 2]
    assert {damage.evidence["NOT_OWN_NODE"]["actual"] for damage in damages} == {NODE}


@pytest.mark.parametrize(
    "call",
    [
        lambda: judge("x", []),
        lambda: judge(NODE, [Frame(K[0].decode(), "0.12", None, ())]),
        lambda: judge(NODE, [], held=[b"x"]),
        lambda: judge(NODE, [], waiting=[K[1]]),
    ],
)
def test_judging_what_is_no_journal_of_the_node_is_a_wrong_call(call):
    with pytest.raises(ValueError):
        call()


@pytest.mark.large
def test_a_journal_delivered_line_by_line_in_any_order_is_accepted_whole():
    lines = list(synthetic(0, 20_000))
    frames = [[line] for line in lines[1:]]
    random.Random(1).shuffle(frames)
    judgement = judge(NODE, frames)
    assert judgement.new == 19_999
    assert max(judgement.accepted.values()) == 20_000


def test_the_evidence_of_the_worst_line_and_frame_fits():
    lines = [K[0], K[1], K[1][:85] + b"B" + K[2][86:-1] + b"B", b"\xff" * 5000]
    evidence = [d.evidence for d in judge(K[0].decode(), [lines], strict=True, own=True).verdicts]
    wild = json.dumps({"node": "\U0001f600" * 100_000, "journal": {"since": "", "entries": []}}).encode()
    evidence.append(parse_frame(wild).evidence)
    assert all(len(encode_evidence(each)) <= MAX_EVIDENCE_BYTES for each in evidence)


def test_the_evidence_of_a_row_does_not_tell_which_file_came_first():
    one, two = ReferenceLake(), ReferenceLake()
    files = [{"a": b"\n".join([*J[:2], b"x"])}, {"a": b"\n".join([J[0], b"x"])}]
    for lake, runs in ((one, files), (two, files[::-1])):
        for run in runs:
            lake.ingest(run)
    assert one.quarantine == two.quarantine
    assert len(one.quarantine) == 1
