"""Laws of admission: order, repetition and splits of records change nothing of what is accepted or refused."""

from random import Random

import pytest

from strandline.dialects.devicelog.codec import read_documents
from strandline.dialects.devicelog.verify import forks, judge_documents
from support.devicelog_corpus import corpus
from support.devicelog_reference import FORMATS, ReferenceDeviceLogs
from support.laws import IS_QUICK

SEEDS = range(3 if IS_QUICK else 30)


def documents(seed):
    """Every record of a corpus of random groups and feeds, with all attacks."""
    return [
        document
        for run in corpus(seed, 10, 12)
        for name, content in sorted(run.items())
        for document in read_documents(content, FORMATS[name.rpartition(".")[2]])
    ]


def outcome(rows, held):
    """What is left after any number of runs: accepted ids, copies that wait, rejected records with their reasons."""
    rejected = {(row.raw, row.reasons, row.namespace) for row in rows if row.status == "rejected"}
    return set(held.entries), set(held.waiting), rejected


@pytest.mark.large
@pytest.mark.parametrize("profile", ["strict", "weak"])
def test_any_order_split_and_repetition_gives_the_same_sets(profile):
    for seed in SEEDS:
        draw, given = Random(seed), documents(seed)
        whole = judge_documents(given, None, profile)
        expected = outcome(whole.quarantine, whole.held)
        again = given + draw.choices(given, k=len(given) // 4)
        draw.shuffle(again)
        held, rows, left = None, [], again
        while left:
            size = draw.randint(1, len(left))
            found = judge_documents(left[:size], held, profile)
            held, left = found.held, left[size:]
            rows += found.quarantine
        assert outcome(rows, held) == expected
        assert forks(held.entries.values(), profile) == forks(whole.held.entries.values(), profile)


def test_the_accepted_entries_are_closed_under_what_they_name():
    for seed in SEEDS:
        held = judge_documents(documents(seed)).held
        for (namespace, _), entry in held.entries.items():
            named = [*entry.deps, *([] if entry.prev is None else [entry.prev])]
            assert all((namespace, each) in held.entries for each in named)


def test_what_is_accepted_is_known_when_it_comes_again():
    for seed in SEEDS:
        lake = ReferenceDeviceLogs()
        for run in corpus(seed, 6, 8):
            lake.ingest(run)
            before = lake.held
            counts = lake.ingest(run)
            assert (counts.new, counts.readmitted, lake.held) == (0, 0, before)
