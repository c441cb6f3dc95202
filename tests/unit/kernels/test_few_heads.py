"""Few segments get the positions that the reference gives their lines, wherever they are cut and whatever is stored."""

import random

import pytest

from strandline.dialects.sdmp.codec import parse_line, record_id
from strandline.dialects.sdmp.kernels import PlacedHead, Segment, attached_heads, placed_heads
from strandline.dialects.sdmp.reduce import leaves, n_of
from support.random_journals import tree


class Run:
    """Some lines of one journal are stored, the others come in segments, from which some may be missing."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        lines = tree(rng, seed)
        self.node = lines[0].decode()
        self.profile = "0.9" if len(self.node) == 64 else "0.12"
        self.namespace = f"node:{self.node}"
        self.parsed = [parse_line(line, self.profile) for line in lines]
        accepted = {record_id(line.raw): line for line in self.parsed}
        self.n = n_of(self.node, accepted)
        self.stored = self.parsed[: rng.randrange(len(lines) + 1)]
        kept = [line for line in self.parsed if line in self.stored or rng.random() < 0.8]
        delivered = [line for line in kept if line not in self.stored or rng.random() < 0.3]
        self.segments: list[list] = []
        for line in delivered:
            follows = [each for each in self.segments if each[-1].hash == line.number]
            if follows and rng.random() < 0.8:
                follows[0].append(line)
            else:
                self.segments.append([line])
        rng.shuffle(self.segments)
        self.rng = rng

    def of_run(self) -> list[Segment]:
        return [
            Segment(file_no, 0, -1, 3, len(lines), self.node, lines[0].number, None, lines[-1].hash)
            for file_no, lines in enumerate(self.segments)
        ]

    def placed(self) -> list[PlacedHead]:
        stored = {line.record_id: line for line in self.stored}
        # In profile 0.12 the record id of a leaf is not its hash: then only the tip is known by it.
        ends = leaves(self.node, stored)[: None if self.profile == "0.9" else 1] if stored else ()
        tips = {(self.namespace, stored[leaf.record_id].hash): leaf.n for leaf in ends}
        heads = attached_heads(self.of_run(), [self.namespace] if stored else [], tips)
        parents = {
            (self.namespace, line.hash): (file_no, 0, -1, 3 + at, 3)
            for file_no, lines in reversed(list(enumerate(self.segments)))
            for at, line in enumerate(lines)
        }
        known = {(self.namespace, line.hash): self.n[line.record_id] for line in self.stored}
        return placed_heads(heads, parents, known)

    def connected(self) -> set[bytes]:
        """The lines that the stored ones and line 1 lead to."""
        here = {line.hash for line in (self.parsed[0], *self.stored)}
        came = [line for lines in self.segments for line in lines]
        while grown := {line.hash for line in came if line.number in here} - here:
            here |= grown
        return here


@pytest.mark.parametrize("seed", range(120))
def test_segments_get_the_positions_of_the_reference(seed: int) -> None:
    run = Run(seed)
    connected = run.connected()
    for head, lines in zip(run.placed(), run.segments, strict=True):
        expected = run.n[lines[0].record_id] if lines[0].hash in connected else None
        assert head.n == expected
        assert head.last_n == (None if expected is None else run.n[lines[-1].record_id])
        assert not head.is_known


@pytest.mark.parametrize("seed", range(60))
def test_segments_overlap_where_two_have_a_line_with_one_n(seed: int) -> None:
    heads = Run(seed).placed()
    places = {at: range(head.n, head.last_n + 1) for at, head in enumerate(heads) if head.n is not None}
    for at, head in enumerate(heads):
        others = [each for other, each in places.items() if other != at]
        assert head.overlaps == any(set(places.get(at, ())) & set(each) for each in others)


def test_what_is_drawn_has_open_heads_children_and_heads_on_stored_lines_inside() -> None:
    heads = [(run, head) for run in map(Run, range(120)) for head in run.placed()]
    assert any(head.n is None for _, head in heads)
    assert any(head.n is not None and head.attached_n is None for _, head in heads)
    assert any(head.overlaps for _, head in heads)
    assert {head.has_stored for _, head in heads} == {True, False}
    row = heads[0][1].row("here", 16)
    assert (row["head_id"], row["source"]) == ("0:0:-1:3", "here")


@pytest.mark.parametrize("seed", range(60))
def test_a_journal_that_is_not_reduced_yet_is_stored_where_a_line_of_it_is_found(seed: int) -> None:
    run = Run(seed)
    places = {line.hash: run.n[line.record_id] for line in run.stored}
    known = {(run.namespace, name): n for name, n in places.items()}
    for head in placed_heads(attached_heads(run.of_run(), [], {}), {}, known):
        number = head.segment.number
        by_itself = number in (None, run.parsed[0].hash)
        assert head.has_stored == (not by_itself and number in places)
        assert head.n == (
            places[number] + 1 if head.has_stored else ((1 if number is None else 2) if by_itself else None)
        )


def test_segments_within_a_long_one_overlap_it_also_behind_others_that_end_before_it() -> None:
    node = Run(0).node
    first, *inner = [
        Segment(number, 0, -1, 0, lines, node, follows, None, f"end {number}")
        for number, (lines, follows) in enumerate([(10, None), (2, "one"), (2, "four"), (2, "ten")])
    ]
    known = {(first.namespace, "one"): 1, (first.namespace, "four"): 4, (first.namespace, "ten"): 10}
    heads = placed_heads(attached_heads([first, *inner], [first.namespace], {}), {}, known)
    assert [(head.n, head.last_n, head.overlaps) for head in heads] == [
        (1, 10, True), (2, 3, True), (5, 6, True), (11, 12, False),
    ]  # fmt: skip
