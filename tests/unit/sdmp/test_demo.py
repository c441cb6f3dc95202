"""The demo's journals are what their names say, by the reference."""

import hashlib

import pytest

from strandline.core.ids import namespace
from strandline.dialects.sdmp import codec
from strandline.dialects.sdmp.demo import (
    NODE,
    PRINTED,
    PRINTED_NUMBER_3,
    RIGHT_NUMBER_3,
    damaged,
    demo,
    forked,
    journals,
    published,
    published_12,
)
from strandline.dialects.sdmp.verify import judge


def _judged(content: bytes):
    source = codec.parse_source(content)
    assert source.damages == ()
    frames = [frame for _, frame in source.frames]
    [node] = {frame.node for frame in frames}
    return judge(node, frames)


def _fates(content: bytes) -> list[tuple[int, str, tuple[str, ...]]]:
    return [(each.pos, each.status, each.reasons) for each in _judged(content).verdicts]


@pytest.mark.parametrize(
    ("content", "size", "digest"),
    [
        (
            published(PRINTED_NUMBER_3),
            454,
            "2f0733f5a0f2c26a0e9add85a0a18a57e79922ee437548c5e0f217007197ae9b",
        ),
        (published(RIGHT_NUMBER_3), 454, "f7174016003d8a1e7bed5995f8ab3e74329108507933b0f949c3c1282be17199"),
        (published_12(), 869, "5ff3e75b5c9c3fa644ada09ecdef1b2ecda56815492e0e839f91b46dd698326e"),
    ],
    ids=["0.9 as printed", "0.9 corrected", "0.12"],
)
def test_published_journals_are_the_published_bytes(content: bytes, size: int, digest: str) -> None:
    assert (len(content), hashlib.sha256(content).hexdigest()) == (size, digest)


def test_of_the_printed_example_two_lines_are_accepted_and_line_3_names_both_numbers() -> None:
    found = _judged(published(PRINTED_NUMBER_3))
    assert [(each.pos, each.status, each.reasons) for each in found.verdicts] == [
        (1, "accepted", ()),
        (2, "accepted", ()),
        (3, "rejected", ("LINE_NUMBER_MISMATCH",)),
    ]
    evidence = found.verdicts[2].evidence["LINE_NUMBER_MISMATCH"]
    assert (evidence["expected"], evidence["actual"]) == (RIGHT_NUMBER_3, PRINTED_NUMBER_3)


def test_the_rejection_to_explain_is_the_only_one_of_its_namespace() -> None:
    rejection = demo().rejection
    rejected = []
    for file in demo().files:
        found = _judged(file.content)
        where = namespace("node", codec.parse_source(file.content).frames[0][1].node)
        rejected += [
            (where, file.name, each.reasons, each.pos) for each in found.verdicts if each.status == "rejected"
        ]
    [(_, name, reasons, position)] = [each for each in rejected if each[0] == rejection.namespace]
    assert (name, reasons) == (rejection.file, (rejection.reason,)) == (PRINTED, ("LINE_NUMBER_MISMATCH",))
    assert rejection.title.startswith(f"Line {position} of ")
    assert rejection.namespace == f"node:{NODE}"


@pytest.mark.parametrize(
    "content", [published(RIGHT_NUMBER_3), published_12()], ids=["0.9 corrected", "0.12"]
)
def test_of_the_others_every_line_is_accepted(content: bytes) -> None:
    assert {status for _, status, _ in _fates(content)} == {"accepted"}


def test_the_damaged_journal_breaks_behind_its_altered_line_and_the_rest_waits() -> None:
    fates = _fates(damaged(4, 40))
    assert {status for pos, status, _ in fates if pos <= 20} == {"accepted"}
    assert fates[20] == (21, "rejected", ("LINE_NUMBER_MISMATCH",))
    assert {(status, reasons) for pos, status, reasons in fates if pos > 21} == {
        ("deferred", ("PREDECESSOR_UNKNOWN",))
    }


def test_the_forked_journal_is_accepted_whole_and_has_the_known_other_line_4() -> None:
    found = _judged(forked())
    assert {each.status for each in found.verdicts} == {"accepted"}
    hashes = {hashlib.sha256(line).hexdigest() for line in found.lines.values()}
    assert "a24097b7402b935bb6e77950503c60206fd6bec425b193932241ed19eb4ff43a" in hashes


def test_each_journal_holds_as_many_records_as_it_says() -> None:
    for journal in journals():
        source = codec.parse_source(journal.content)
        assert sum(len(frame.elements) for _, frame in source.frames) == journal.records, journal.name


DIGESTS = {
    "damaged.journal": "655fdd0e4391d477fffe7fea168a9281087a5c7c710bf4961f06f60fca0c65c6",
    "forked.jsonl": "166482c97840328752a24896f7f4be460e9df059d4d047e1a78afeb8a9784bcf",
    "published-0.12.journal": "5ff3e75b5c9c3fa644ada09ecdef1b2ecda56815492e0e839f91b46dd698326e",
    "published-0.9-corrected.journal": "f7174016003d8a1e7bed5995f8ab3e74329108507933b0f949c3c1282be17199",
    "published-0.9-printed.journal": "2f0733f5a0f2c26a0e9add85a0a18a57e79922ee437548c5e0f217007197ae9b",
    "synthetic-1.journal": "e09dee7675bfc0d2830986eff80e8aba14accac31cdd2a9ad886f0e1b0197874",
    "synthetic-2.journal": "48ba9a50383acfb4146b7366bfe89e660d87a8bb2be6a3ea901895272c1412a9",
    "synthetic-3.journal": "cd43a22b4893c6fc74a7868b6bff2d852149e5d97a813b0b1092d716dd29f811",
}
"""What the journals were when the documentation was written: SHA-256 by name, ascending."""


def test_journals_keep_their_bytes_from_version_to_version_and_come_by_name() -> None:
    made = [(each.name, hashlib.sha256(each.content).hexdigest()) for each in journals()]
    assert made == list(DIGESTS.items())
