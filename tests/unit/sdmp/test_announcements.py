"""Announcements against named mutations: what an own node may write, and the reason of each that it may not."""

import json

import pytest

from strandline.dialects.sdmp.author import synthetic_id
from strandline.dialects.sdmp.codec import announce, announced_element, parse_frame
from strandline.dialects.sdmp.types import Announcement, Unreadable
from strandline.dialects.sdmp.verify import judge_announcement, refused_announcement
from support.own_cases import own_node
from support.own_lake import OwnLake

X, Y = synthetic_id("node", 1), synthetic_id("node", 1, "0.12")
A, R = synthetic_id("author", 1), synthetic_id("resource", 1)
B, S = synthetic_id("author", 1, "0.12"), synthetic_id("resource", 1, "0.12")
ODD = S[:-1] + "B"


def announced(node, *elements, **members):
    return Announcement(node, "0.9" if len(node) == 64 else "0.12", elements, members.get("seq"))


# name: (announcement, own nodes, strict, the reasons of each element)
CASES = {
    "an own node, ids of its form": (announced(X, (A, R)), {X}, False, [()]),
    "the same in 0.12": (announced(Y, (B, S)), {X, Y}, True, [()]),
    "no element": (announced(X), {X}, False, []),
    "no node is own": (announced(X, (A, R), (A, A)), set(), False, [("NOT_OWN_NODE",)] * 2),
    "another node is own": (announced(X, (A, R)), {Y}, False, [("NOT_OWN_NODE",)]),
    "not own and no ids: the first failure stands": (announced(X, ("a", "r")), {Y}, False, [("NOT_OWN_NODE",)]),
    "author of the other profile": (announced(X, (B, R)), {X}, False, [("BAD_AUTHOR",)]),
    "resource of the other profile": (announced(X, (A, S), (A, R)), {X}, False, [("BAD_RESOURCE",), ()]),
    "both": (announced(Y, (A, R)), {Y}, False, [("BAD_AUTHOR", "BAD_RESOURCE")]),
    "upper case": (announced(X, (A.upper(), R)), {X}, False, [("BAD_AUTHOR",)]),
    "a newline at the end": (announced(X, (A, R + "\n")), {X}, False, [("BAD_RESOURCE",)]),
    "a lone surrogate": (announced(X, (A, "\ud800")), {X}, False, [("BAD_RESOURCE",)]),
    "an impossible id, weak": (announced(Y, (B, ODD)), {Y}, False, [()]),
    "an impossible id, strict": (announced(Y, (ODD, ODD), (B, S)), {Y}, True, [("NON_CANONICAL_ID",), ()]),
    "an impossible node, strict": (announced(ODD, (B, S)), {ODD}, True, [("NON_CANONICAL_ID",)]),
    "no id, strict": (announced(Y, (ODD, R)), {Y}, True, [("BAD_RESOURCE",)]),
    "0.9 ids, strict": (announced(X, (A, R)), {X}, True, [()]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_each_element_is_a_pair_or_a_record_with_its_reasons(name):
    announcement, own, strict, reasons = CASES[name]
    judged = judge_announcement(announcement, own, strict=strict)
    assert [each.reasons if isinstance(each, Unreadable) else () for each in judged] == reasons
    for element, each in zip(announcement.elements, judged, strict=True):
        if isinstance(each, Unreadable):
            assert (each.raw, each.node) == (announced_element(*element), announcement.node)
            assert set(each.evidence) == set(each.reasons)
        else:
            assert each == element
    refused = refused_announcement(announcement, own, strict=strict)
    assert refused == tuple(each for each in judged if isinstance(each, Unreadable))


def test_the_evidence_names_position_field_and_what_was_found():
    (first, second) = judge_announcement(announced(X, ("x" * 300, R), (A, S)), {X})
    assert first.evidence["BAD_AUTHOR"] == {
        "position": 1,
        "field": "author",
        "expected": "id of profile 0.9, as the node",
        "actual": "x" * 200 + ".. (cut)",
    }
    assert (second.evidence["BAD_RESOURCE"]["position"], second.evidence["BAD_RESOURCE"]["actual"]) == (2, S)
    (odd,) = judge_announcement(announced(ODD, (ODD, S)), {ODD}, strict=True)
    assert odd.evidence["NON_CANONICAL_ID"] == {
        "position": 1,
        "field": "node,author",
        "expected": "last character one of AQgw",
        "actual": [ODD, ODD],
    }


@pytest.mark.large
def test_one_announcement_too_long_is_one_rejected_record_and_writes_nothing():
    raw = json.dumps({"node": X, "resources": [{"author": "", "resource": ""}] * 50_001}).encode()
    damage = parse_frame(raw)
    assert isinstance(damage, Unreadable)
    assert damage.reasons == ("FRAME_TOO_MANY",)
    lake = OwnLake([own_node(X)])
    written = lake.run({"a": raw})
    assert (written.counts.read, written.counts.rejected, lake.resources) == (1, 1, {})


def test_every_element_of_a_run_is_new_known_or_rejected():
    lake = OwnLake([own_node(X)])
    bad = json.dumps({"node": X, "resources": [{"author": A, "resource": S}]}).encode()
    files = {"a": announce(X, [(A, R), (A, A), (A, R)]) + b"\n" + bad + b"\n" + announce(Y, [(B, S)])}
    counts = lake.run(files).counts
    assert (counts.read, counts.new, counts.known, counts.rejected) == (5, 2, 1, 2)
    counts = lake.run(files).counts
    assert (counts.read, counts.new, counts.known, counts.rejected) == (5, 0, 3, 2)
    assert sorted(row.reasons for row in lake.rows("rejected")) == [("BAD_RESOURCE",), ("NOT_OWN_NODE",)]
