"""Device logs: stored rows and news give the rows that all entries give."""

import pytest

from strandline.dialects.devicelog.author import synthetic
from strandline.dialects.devicelog.kernels.increments import WHOLE, grown, windows
from strandline.dialects.devicelog.kernels.reduction import reduced
from strandline.dialects.devicelog.kernels.schemas import PARTS
from support.device_rows import batches, in_windows, row_of, stored_batches, stored_parts
from support.laws import IS_QUICK
from support.random_devices import gossip, random_history

SEEDS = range(60 if IS_QUICK else 300)
KEYS = {
    "view": ("record_id",),
    "screw": ("record_id",),
    "tip": ("log",),
    "member": ("record_id", "log"),
    "state": (),
}


def parts_of(found):
    """Reduced rows by part and key."""
    rows = {part: {} for part in (*PARTS, WHOLE)}
    for batch in found:
        for row in batch.to_pylist():
            part = row["part"]
            value = row.get(part)
            rows[part][tuple(value[name] for name in KEYS[part]) if value else ()] = value
    return rows


def full(entries, policy="keep-both"):
    return parts_of(reduced(batches([entries], 10_000), policy=policy))


def incremental(tables, old, new, policy="keep-both"):
    """The tables after new entries; None if the group must be reduced whole."""
    first = row_of(new[0])
    of, news = (first["namespace"], first["bucket"]), list(map(row_of, new))
    parts = stored_parts({part: list(rows.values()) for part, rows in tables.items()})
    asked = list(windows(stored_batches(*of, {"tip": parts["tip"], "new": news}, 13)))
    if asked[0].column("log")[0].as_py() is None:
        return None
    held = list(map(row_of, in_windows(old, asked)))
    found = parts_of(grown(stored_batches(*of, {**parts, "new": news, "window": held}, 13), policy=policy))
    return None if found.pop(WHOLE) else {part: tables[part] | rows for part, rows in found.items()}


def steps(entries):
    """Entries parents first, cut into a beginning and news of one to four."""
    ordered = sorted(entries, key=lambda entry: (entry.lamport, entry.seq, entry.record_id))
    at = max(1, len(ordered) // 3)
    yield ordered[:at]
    while at < len(ordered):
        size = 1 + at % 4
        yield ordered[at : at + size]
        at += size


def count_increments(entries, policy="keep-both"):
    """How many steps were increments; all end with the rows of all entries."""
    done, held, tables = 0, [], None
    for new in steps(entries):
        expected = full(held + new, policy)
        found = tables and incremental(tables, held, new, policy)
        held, tables = held + new, expected
        if found:
            done += 1
            assert found == {part: rows for part, rows in expected.items() if part != WHOLE}
    return done


@pytest.mark.parametrize(("forks", "least"), [(False, 0.5), (True, 0.3)])
def test_news_step_by_step_end_with_the_rows_of_all_entries(forks, least):
    done = 0
    for seed in SEEDS:
        made = random_history(seed, forks=forks)
        if not forks:
            gossip(made)
        done += count_increments(made.entries(), ("keep-both", "freeze")[seed % 2])
    assert done > least * len(SEEDS)


def test_most_news_of_devices_that_meet_are_increments():
    for number, (logs, every) in enumerate([(2, 3), (3, 5), (5, 7)]):
        entries = {
            each.record_id: each for log in synthetic(number, logs, 60, every) for each in log.entries()
        }
        assert count_increments(entries.values()) > 10
