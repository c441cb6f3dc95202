"""Runs of `ingest` at once, some of them killed, in all orders of their steps: no record waits for ever."""

from itertools import combinations, product
from random import Random

from support.ingest_model import BEFORE_MARK, STEPS, ModelLake, ingesting
from support.laws import IS_QUICK

NEEDS = {"child": {"left", "right"}, "grandchild": {"child"}}
KILLS = [step for step in range(STEPS + 1) if step != BEFORE_MARK]
"""How many steps a run does: all of them, if it is not killed."""
ORDERS = 5 if IS_QUICK else 100


SCENES = [
    ([["child", "grandchild"]], (["left"], ["right"])),
    ([["left"]], (["child"], ["right"])),
    ([["child"], ["left"]], (["right"], ["left"])),
]
"""What was ingested before, and what two runs ingest at once."""


def left_by(before, runs, order):
    """What still waits, but should not, after runs whose steps came in this order and one that is alone."""
    lake = ModelLake(NEEDS)
    for number, delivered in enumerate(before):
        list(ingesting(lake, f"before {number}", delivered))
    begun = [ingesting(lake, f"run {number}", delivered) for number, delivered in enumerate(runs)]
    for each in begun:
        next(each)
    for number in order:
        next(begun[number], None)
    list(ingesting(lake, "after", ["unrelated"]))
    return lake.forgotten()


def test_two_runs_at_once_of_which_some_are_killed_leave_nothing_that_waits_for_ever():
    for steps in product(KILLS, KILLS):
        orders = list(combinations(range(sum(steps)), steps[0]))
        for first in Random(0).sample(orders, min(ORDERS, len(orders))):
            order = [int(at not in first) for at in range(sum(steps))]
            for before, runs in SCENES:
                assert left_by(before, runs, order) == set(), (steps, order, before, runs)


def test_three_runs_at_once_of_which_some_are_killed_leave_nothing_that_waits_for_ever():
    draw = Random(1)
    for _ in range(100 * ORDERS):
        steps = [draw.choice([*KILLS, STEPS, STEPS]) for _ in range(3)]
        order = [number for number, each in enumerate(steps) for _ in range(each)]
        draw.shuffle(order)
        before, (first, second) = draw.choice(SCENES)
        runs = [first, second, draw.choice([["unrelated"], first])]
        assert left_by(before, runs, order) == set(), (steps, order, before, runs)
