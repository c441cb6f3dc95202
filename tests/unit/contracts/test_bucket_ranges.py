"""Conditions on buckets: lists, and ranges where the lists would be very long."""

import random
import re
from itertools import pairwise

import pytest

from strandline.contracts.bucket_ranges import MOST_LISTED, MOST_RANGES, in_buckets, near_buckets
from strandline.contracts.load import contract
from strandline.contracts.maintenance import optimize_sql
from strandline.contracts.merge import delete_merge_sql

EVERY = range(65_536)


def met(condition: str) -> set[int]:
    """The buckets that a condition holds for."""
    listed = re.fullmatch(r"bucket IN \(([0-9, ]+)\)", condition)
    if listed:
        return {int(each) for each in listed[1].split(", ")}
    ranges = re.findall(r"bucket BETWEEN (\d+) AND (\d+)", condition)
    assert condition == f"({' OR '.join(f'bucket BETWEEN {low} AND {high}' for low, high in ranges)})"
    return {each for low, high in ranges for each in range(int(low), int(high) + 1)}


def test_few_buckets_are_listed_in_order_and_once():
    assert in_buckets("t.bucket", [9, 3, 9]) == near_buckets("t.bucket", [9, 3, 9]) == "t.bucket IN (3, 9)"
    most = range(MOST_LISTED)
    assert in_buckets("bucket", most) == near_buckets("bucket", most)
    assert in_buckets("bucket", most).startswith("bucket IN (0, 1, ")


@pytest.mark.parametrize("seed", range(6))
def test_one_condition_has_just_the_buckets_and_the_other_no_more_than_a_hundred_ranges(seed):
    chance = random.Random(seed)
    buckets = set(chance.sample(EVERY, chance.choice((1_001, 2_000, 30_000, 65_000))))
    exactly, near = in_buckets("bucket", buckets), near_buckets("bucket", buckets)
    assert met(exactly) == buckets
    assert met(near) >= buckets
    assert near.count("BETWEEN") <= MOST_RANGES
    # What it has besides lies between two of them, and the widest gaps are left out.
    assert (min(met(near)), max(met(near))) == (min(buckets), max(buckets))
    gaps = sorted((high - low - 1 for low, high in pairwise(sorted(buckets))), reverse=True)
    assert len(met(near)) == len(buckets) + sum(gaps[MOST_RANGES - 1 :])


def test_many_buckets_in_few_runs_are_ranges_in_both():
    runs = [*range(1_500), *range(2_000, 2_001), *range(60_000, 65_536)]
    assert in_buckets("bucket", runs) == near_buckets("bucket", runs)
    assert in_buckets("bucket", runs) == (
        "(bucket BETWEEN 0 AND 1499 OR bucket BETWEEN 2000 AND 2000 OR bucket BETWEEN 60000 AND 65535)"
    )


def test_statements_over_all_buckets_of_the_largest_lake_are_short():
    merge = delete_merge_sql(contract("quarantine"), target="t", source="s", buckets=EVERY)
    assert "ON (t.bucket BETWEEN 0 AND 65535)\n  AND t.bucket = s.bucket\n" in merge
    some = delete_merge_sql(contract("quarantine"), target="t", source="s", buckets=EVERY[::2])
    assert max(map(len, (merge, some, optimize_sql(target="t", buckets=EVERY)))) < 5_000
