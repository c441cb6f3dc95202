import base64
import hashlib
import json

import pytest

from strandline.dialects.sdmp import reduce
from strandline.dialects.sdmp.author import append, synthetic, synthetic_id
from strandline.dialects.sdmp.codec import parse_line, record_id

J = list(synthetic(0, 5))
NODE = J[0].decode()


def accepted(*lines):
    return {record_id(line): parse_line(line, "0.9") for line in lines}


def branch(after, *numbers):
    return list(
        append(after, [(synthetic_id("author", 1), synthetic_id("resource", 900 + i)) for i in numbers])
    )


def test_a_journal_without_fork_has_one_leaf_its_tip():
    row = reduce.journal(NODE, accepted(*J))
    assert row.leaves == (reduce.Leaf(5, record_id(J[4])),)
    assert (row.tip_n, row.tip_line, row.tip_number) == (5, J[4].decode(), J[4][:64].decode())
    assert row.tip_hash == hashlib.sha256(J[4]).hexdigest()
    assert (row.fork_count, row.common_n) == (0, 5)
    assert (row.line_count, row.record_count, row.pair_count, row.duplicate_pairs) == (5, 5, 4, 0)
    assert (row.namespace, row.profile) == (f"node:{NODE}", "0.9")


def test_a_journal_of_line_1_has_no_number_at_its_tip():
    row = reduce.journal(NODE, {})
    assert (row.tip_n, row.tip_number, row.tip_line, row.pair_count) == (1, None, NODE, 0)
    assert row == reduce.journal(NODE, accepted(J[0]))


def test_the_longest_branch_is_the_trunk_and_a_tie_falls_to_the_least_id():
    short, long = branch(J[2], 1), branch(J[2], 2, 3, 4)
    row = reduce.journal(NODE, accepted(*J, *short, *long))
    assert row.tip_line == long[-1].decode()
    assert [leaf.n for leaf in row.leaves] == [6, 5, 4]
    tied = reduce.journal(NODE, accepted(*J[:4], *short))
    assert tied.tip_line.encode() == min(J[3], short[0], key=record_id)


def test_common_n_is_the_first_fork_and_every_fork_counts():
    other, third = branch(J[1], 1, 2), branch(J[1], 5)
    row = reduce.journal(NODE, accepted(*J, *other, *third, *branch(J[3], 3)))
    assert (row.fork_count, row.common_n) == (2, 2)


def test_a_repeated_pair_is_counted_as_a_duplicate():
    line = parse_line(J[4], "0.9")
    again = next(append(J[4], [(line.author, line.resource)]))
    row = reduce.journal(NODE, accepted(*J, again))
    assert (row.pair_count, row.duplicate_pairs, row.line_count) == (4, 1, 6)


def test_the_state_is_spelled_out_leaf_by_leaf():
    (fork,) = branch(J[2], 1)
    state = reduce.state_bytes(NODE, accepted(*J, fork))
    assert (
        state
        == (
            f"strandline/sdmp/state/1\nnode:{NODE}\n6\n5 {record_id(J[4]).hex()}\n4 {record_id(fork).hex()}\n"
        ).encode()
    )
    assert reduce.state_hash(NODE, accepted(*J, fork)) == hashlib.sha256(state).hexdigest()
    leaves = reduce.leaves(NODE, accepted(*J, fork))
    assert reduce.state_hash_of(NODE, 6, leaves) == hashlib.sha256(state).hexdigest()


def test_positions_count_along_the_chain_of_each_branch():
    other = branch(J[1], 1, 2)
    assert sorted(reduce.n_of(NODE, accepted(*J, *other)).values()) == [1, 2, 3, 3, 4, 4, 5]


def test_lines_that_hang_on_nothing_are_no_accepted_set():
    with pytest.raises(ValueError, match="predecessor"):
        reduce.journal(NODE, accepted(J[0], J[2]))
    with pytest.raises(ValueError):
        reduce.journal("x", {})


def test_a_fork_names_all_members_and_shows_the_two_of_least_id():
    children = [J[2], *branch(J[1], 1), *branch(J[1], 2)]
    (row,) = reduce.forks(NODE, accepted(*J, *children))
    assert row.members == tuple(sorted(map(record_id, children)))
    assert row.member_count == 3
    assert [record_id(row.bytes_a), record_id(row.bytes_b)] == list(row.members[:2])
    evidence = json.loads(row.evidence)
    assert [base64.b64decode(each["bytes"]) for each in evidence["records"]] == [row.bytes_a, row.bytes_b]
    assert evidence["context"] == [
        {"bytes": base64.b64encode(J[1]).decode(), "id": record_id(J[1]).hex(), "role": "predecessor"}
    ]
    assert row.position == J[2][:64].decode() == evidence["position"]


def test_members_beyond_the_limit_are_counted_and_not_listed():
    followers = {i.to_bytes(32, "big"): J[2] for i in range(reduce.MAX_MEMBERS + 1)}
    row = reduce.fork(NODE, J[1], followers)
    assert (len(row.members), row.member_count) == (65_536, 65_537)


def test_forks_come_in_the_order_of_their_position():
    rows = reduce.forks(NODE, accepted(*J, *branch(J[3], 1), *branch(J[1], 2), *branch(J[0], 3)))
    assert [row.position for row in rows] == [J[1][:64].decode(), J[2][:64].decode(), J[4][:64].decode()]
