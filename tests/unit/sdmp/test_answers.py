"""What own nodes answer to request files."""

import pytest

from strandline.core.verdict import shown
from strandline.dialects.sdmp.author import MAX_ANSWER_LINES, answer, answers, append, synthetic, synthetic_id
from strandline.dialects.sdmp.codec import (
    MAX_FRAME_BYTES,
    MAX_FRAME_ELEMENTS,
    batch,
    parse_frame,
    parse_requests,
    render_requests,
)
from strandline.dialects.sdmp.types import Frame, JournalRequest, ResourceRequest

J = list(synthetic(0, 6))
NODE, ASKER = J[0].decode(), synthetic_id("node", 1)
NUMBERS = [NODE, *(line[:64].decode() for line in J[1:])]
TRUNKS = {NODE: J}


def asked(since=NODE, limit=10_000, to=NODE):
    return JournalRequest(ASKER, to, since, limit)


@pytest.mark.parametrize("known", range(6))
@pytest.mark.parametrize("limit", [1, 2, 5, 6, 10**9])
def test_the_lines_after_a_number_are_given_up_to_the_limit(known, limit):
    assert answer(J, NUMBERS[known], limit) == J[known + 1 : known + 1 + limit]


@pytest.mark.parametrize("since", ["0" * 64, "", NODE.upper(), "\ud800", J[2].decode(), NODE + "@"])
def test_what_is_the_number_of_no_line_is_not_found(since):
    assert answer(J, since, 1) is None
    (request,) = parse_requests(render_requests([asked(since.replace("\ud800", "x"))]))
    found = answers([request], TRUNKS)
    assert (found.frames, found.not_found) == ((), (request,))


def test_a_number_of_another_branch_is_not_found_but_one_that_the_branches_share_is():
    branch = list(append(J[2], [(ASKER, ASKER), (NODE, NODE)]))
    assert answer(J, branch[0][:64].decode(), 10) == J[4:]
    assert answer(J, branch[1][:64].decode(), 10) is None


def test_a_limit_below_1_is_a_wrong_call():
    with pytest.raises(ValueError, match="limit"):
        answer(J, NODE, 0)


def test_an_answer_never_holds_more_than_a_frame_may():
    many = [J[0], *[J[1]] * (MAX_FRAME_ELEMENTS + 1)]
    lines = answer(many, NODE, 10**9)
    assert len(lines) == MAX_ANSWER_LINES == MAX_FRAME_ELEMENTS
    wide = next(
        append(synthetic_id("node", 0, "0.12").encode(), [(synthetic_id("a", 0, "0.12"),) * 2], "0.12")
    )
    assert len(batch(NODE, NODE, [wide] * MAX_ANSWER_LINES)) < MAX_FRAME_BYTES


def test_a_request_file_is_answered_in_its_order_and_the_rest_is_told_by_name():
    stranger = synthetic_id("node", 2)
    requests = [
        asked(NUMBERS[3], 1),
        ResourceRequest(ASKER, NODE, NODE, NODE),
        asked(to=stranger),
        asked("0" * 64),
        asked(to="a"),
        asked(NUMBERS[5]),
        asked(to=stranger),
        asked(NODE, 10**9),
    ]
    data = render_requests(requests) + b"{}\n"
    found = answers(parse_requests(data), TRUNKS)
    expected = [(NUMBERS[3], J[4:5]), (NUMBERS[5], []), (NODE, J[1:])]
    assert [parse_frame(frame) for frame in found.frames] == [
        Frame(NODE, "0.9", since, tuple(lines)) for since, lines in expected
    ]
    assert list(found.refused.items()) == sorted([(stranger, 2), ("a", 1)])
    assert (found.not_found, found.resources) == ((asked("0" * 64),), 1)
    assert [each.line for each in found.malformed] == [9]


def test_a_request_for_each_line_of_a_journal_does_not_make_its_square():
    count = 400
    lines = list(synthetic(0, count))
    numbers = [NODE, *(line[:64].decode() for line in lines[1:])]
    requests = [asked(since) for since in numbers]
    found = answers(requests, {NODE: lines}, most_lines=1_000)
    assert [len(parse_frame(frame).elements) for frame in found.frames] == [count - 1, count - 2]
    assert found.past_limit == tuple(requests[2:])


def test_past_the_limit_of_lines_all_requests_are_refused_in_the_order_of_the_file():
    requests = [
        asked(NUMBERS[1], 2),
        asked(NUMBERS[2]),  # 3 lines: 5 together
        asked(NUMBERS[1], 2),
        asked("0" * 64),
        asked(NUMBERS[5]),  # no line
        asked(NUMBERS[4]),
    ]
    for most, frames, past in ((6, 4, 0), (5, 3, 1), (4, 1, 3), (1, 0, 5)):
        found = answers(requests, TRUNKS, most)
        assert (len(found.frames), len(found.past_limit)) == (frames, past)
        assert found.not_found == (asked("0" * 64),)
    assert found.past_limit == tuple(each for each in requests if each.since != "0" * 64)


def test_an_untrusted_name_is_told_in_part():
    names = ("x" * 10**6, "x" * (10**6 + 1), "x" * 200)
    found = answers([asked(to=name) for name in names], TRUNKS)
    assert found.refused == {"x" * 200: 1, shown("x" * 10**6): 2}
    assert max(map(len, found.refused)) < 220


def test_requests_for_the_same_lines_get_one_frame_in_the_place_of_the_first():
    other = JournalRequest(synthetic_id("node", 7), NODE, NODE, 10**9)
    wrong = asked("0" * 64)
    given = [
        asked(limit=10**9),
        wrong,
        asked(NUMBERS[2]),
        other,
        asked(limit=50_000),
        asked(NUMBERS[2], 1),
        wrong,
    ]
    found = answers([*given, *given], TRUNKS)
    expected = [(NODE, J[1:]), (NUMBERS[2], J[3:]), (NUMBERS[2], J[3:4])]
    assert [parse_frame(frame) for frame in found.frames] == [
        Frame(NODE, "0.9", since, tuple(lines)) for since, lines in expected
    ]
    assert found.not_found == (wrong,) * 4


def test_a_frame_of_an_answer_has_one_spelling():
    (frame,) = answers([asked(NUMBERS[4])], TRUNKS).frames
    expected = f'{{"node":"{NODE}","journal":{{"since":"{NUMBERS[4]}","entries":["{J[5].decode()}"]}}}}'
    assert frame == expected.encode()
