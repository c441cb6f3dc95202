"""Device logs: stored rows and news give the rows that all entries give."""

import pyarrow as pa
import pytest

from strandline.dialects.devicelog.author import synthetic
from strandline.dialects.devicelog.kernels.increments import STORED, WHOLE, grown, windows
from strandline.dialects.devicelog.kernels.reduction import reduced
from strandline.dialects.devicelog.kernels.schemas import PARTS
from support.device_rows import STORED_ROWS, batches, row_of
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


def input_of(namespace, bucket, parts):
    rows = [
        {
            "namespace": namespace,
            "bucket": bucket,
            "part": part,
            part: {name: row[name] for name in STORED[part]},
        }
        for part, found in parts.items()
        for row in found
    ]
    for at in range(0, len(rows), 13):
        yield pa.RecordBatch.from_pylist(rows[at : at + 13], schema=STORED_ROWS)


def stored(tables):
    """The rows of reduced tables that an increment reads."""
    view = [row for row in tables["view"].values() if row["position"] is not None]
    final = sorted((row for row in view if row["final"]), key=lambda row: row["position"])
    last = {}
    for row in sorted(tables["screw"].values(), key=lambda row: row["seq"]):
        last[row["log"]] = row
    return {
        "tip": list(tables["tip"].values()), "view": [row for row in view if not row["final"]] + final[-1:],
        "screw": list(last.values()), "state": list(tables["state"].values()),
    }  # fmt: skip


def incremental(tables, old, new, policy="keep-both"):
    """The tables after new entries, and the rows that were given; None if the group must be reduced whole."""
    first = row_of(new[0])
    of, news = (first["namespace"], first["bucket"]), list(map(row_of, new))
    parts = stored(tables)
    wanted = [
        row
        for batch in windows(input_of(*of, {"tip": parts["tip"], "new": news}))
        for row in batch.to_pylist()
    ]
    if wanted[0]["log"] is None:
        return None
    bounds = {row["log"]: (row["above"], row["upto"]) for row in wanted}
    held = [row_of(entry) for entry in old if in_window(entry, bounds)]
    found = parts_of(grown(input_of(*of, {**parts, "new": news, "window": held}), policy=policy))
    if found.pop(WHOLE):
        return None
    return {part: tables[part] | rows for part, rows in found.items()}, found


def in_window(entry, bounds):
    above, upto = bounds[entry.log]
    return above < entry.seq <= upto


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
            assert found[0] == {part: rows for part, rows in expected.items() if part != WHOLE}
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
