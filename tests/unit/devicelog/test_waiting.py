"""Device logs: candidates that wait, judged in order as by all of their links, in bounded memory."""

import random
import tracemalloc

import pyarrow as pa
import pytest

from strandline.core.ancestry import missing_parents
from strandline.core.verdict import encode_evidence
from strandline.dialects.devicelog.kernels import LOCAL_SCHEMA, judged_in_order
from strandline.dialects.devicelog.types import MAX_DEPS
from strandline.dialects.devicelog.verify import NAMED, References, deferred


def local_row(record_id, accepted=(), *, deps=(), prev=None, last=None, found=(), group="a"):
    """A row of LOCAL_SCHEMA."""
    named = {*deps, *filter(None, (prev, last))}
    return {
        "namespace": group, "profile": "native", "record_id": record_id, "prev": prev, "deps": sorted(deps),
        "last": last, "lacking": sorted(named - {*accepted}), "absent": 0, "found": list(found),
        "shown": "{}" if found else None,
    }  # fmt: skip


def by_all_links(rows):
    """Verdicts on the rows of one namespace."""
    failing = {row["record_id"] for row in rows if row["found"]}
    missing = missing_parents({row["record_id"]: row["lacking"] for row in rows}, failing)
    for row in rows:
        found = row["found"] and ("rejected", row["found"], row["shown"], [])
        if missing[row["record_id"]]:
            named = References(row["prev"], tuple(row["deps"]), row["last"])
            verdict = deferred(named, missing[row["record_id"]])
            shown = encode_evidence(verdict.evidence)
            found = "deferred", list(verdict.reasons), shown, list(verdict.waits_for)
        yield row["namespace"], row["record_id"], *(found or ("accepted", [], None, []))


def random_rows(draw, group):
    """Candidates with few and with many deps, of which prev and last may be one; some are absent, some accepted."""
    ids = [draw.randbytes(32) for _ in range(60)]
    candidates, accepted = ids[:30], ids[30 : draw.choice([32, 58, 60])]
    for place, record_id in enumerate(candidates):
        before = [*candidates[:place], *accepted, *(ids if draw.random() < 0.1 else ())]
        deps = set(draw.choices(before, k=draw.choice([0, 1, 2, NAMED, NAMED + 1, 40])))
        prev, last = (draw.choice([None, *before, *deps]) for _ in range(2))
        found = ["SEQ_GAP"] if draw.random() < 0.05 else []
        yield local_row(record_id, accepted, deps=deps, prev=prev, last=last, found=found, group=group)


@pytest.mark.large
def test_candidates_of_many_namespaces_are_judged_as_by_all_of_their_links():
    draw, reasons = random.Random(4), set()
    groups = [list(random_rows(draw, f"group {number:03}")) for number in range(200)]
    rows = [row for group in groups for row in group]
    expected = [verdict for group in groups for verdict in by_all_links(group)]
    for size in (7, 5_000):
        parts = (rows[start : start + size] for start in range(0, len(rows), size))
        found = judged_in_order(pa.RecordBatch.from_pylist(part, schema=LOCAL_SCHEMA) for part in parts)
        assert [tuple(row.values()) for batch in found for row in batch.to_pylist()] == expected
    for _, _, status, codes, _, _ in expected:
        reasons.add((status, *codes))
    assert reasons >= {
        ("accepted",), ("rejected", "SEQ_GAP"), ("deferred", "DEP_MISSING"), ("deferred", "PREV_MISSING"),
        ("deferred", "DEP_MISSING", "LAST_MISSING", "PREV_MISSING"),
    }  # fmt: skip


@pytest.mark.large
def test_a_link_to_an_absent_entry_is_held_in_less_than_forty_bytes():
    draw, held, count = random.Random(1), [], 64
    batches = [
        pa.RecordBatch.from_pylist(
            [local_row(draw.randbytes(32), deps=[draw.randbytes(32) for _ in range(MAX_DEPS)])],
            schema=LOCAL_SCHEMA,
        )
        for _ in range(count)
    ]

    def rows():
        yield from batches
        held.append(tracemalloc.get_traced_memory()[0])

    tracemalloc.start()
    try:
        least = tracemalloc.get_traced_memory()[0]
        found = [batch.num_rows for batch in judged_in_order(rows())]
    finally:
        tracemalloc.stop()
    assert sum(found) == count
    assert (held[0] - least) / (count * MAX_DEPS) < 40
