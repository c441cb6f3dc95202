"""The kernel that writes lines gives what the reference writes, however its rows lie in batches."""

import pyarrow as pa
import pytest

from strandline.dialects.sdmp.author import synthetic, synthetic_id
from strandline.dialects.sdmp.codec import parse_line
from strandline.dialects.sdmp.kernels import WRITTEN_SCHEMA, write_lines


def rows_of(lines, known, namespace=None):
    """The rows that make the kernel write all lines after the first `known`."""
    node = lines[0].decode()
    tip = [lines[known - 1].decode() if known else None, *[None] * len(lines)]
    return [
        {
            "namespace": namespace or f"node:{node}", "bucket": 3, "n": n, "author_fp": line.author,
            "resource_id": line.resource, "origin": "announced", "next_n": known + 1,
            "tip_line": tip[n - known - 1],
        }
        for n, line in enumerate(map(parsed, lines[known:]), start=known + 1)
    ]  # fmt: skip


def parsed(raw):
    return parse_line(raw, "0.9" if len(raw) in (64, 194) else "0.12")


def written(rows, size):
    schema = pa.RecordBatch.from_pylist(rows).schema
    batches = [pa.RecordBatch.from_pylist(rows[at : at + size], schema) for at in range(0, len(rows), size)]
    return [row for batch in write_lines(batches) for row in batch.to_pylist()]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
@pytest.mark.parametrize(
    "known", [(2, 2, 2), (0, 0, 0), (0, 3, 1), (1, 0, 5)], ids="{0[0]}, {0[1]}, {0[2]} held".format
)
def test_lines_continue_the_tips_of_journals_of_both_profiles_and_begin_with_line_1(size, known):
    journals = [list(synthetic(number, 6, profile)) for number, profile in enumerate(("0.9", "0.12", "0.9"))]
    rows = [row for lines, held in zip(journals, known, strict=True) for row in rows_of(lines, held)]
    expected = [
        row
        | {
            "profile": "0.9" if len(lines[0]) == 64 else "0.12", "record_id": line.record_id,
            "line_number": line.number, "line_hash": line.hash,
        }
        for lines, held in zip(journals, known, strict=True)
        for row, line in zip(rows_of(lines, held), map(parsed, lines[held:]), strict=True)
    ]  # fmt: skip
    found = written(rows, size)
    assert list(found[0]) == WRITTEN_SCHEMA.names
    assert found == [{name: row[name] for name in WRITTEN_SCHEMA.names} for row in expected]


def test_what_is_no_journal_of_a_node_is_a_wrong_call():
    lines = list(synthetic(0, 3))
    with pytest.raises(ValueError, match="profiles"):
        written(rows_of(lines, 1, namespace="node:x"), 9)
    with pytest.raises(ValueError, match=r"ids of profile 0\.12"):
        written(rows_of(lines, 1, namespace=f"node:{synthetic_id('node', 0, '0.12')}"), 9)


@pytest.mark.parametrize(
    "order", [(1, 0, 2, 3), (0, 2, 3), (0, 1, 4, 5, 2, 3), (2, 3)], ids=["swapped", "gap", "torn", "no tip"]
)
@pytest.mark.parametrize("known", [2, 0], ids="{} held".format)
def test_rows_that_do_not_follow_each_other_are_never_written(order, known):
    first, second = (rows_of(list(synthetic(number, 4 + known)), known) for number in range(2))
    every = [*first, *second]
    with pytest.raises(ValueError, match="do not follow"):
        written([every[place] for place in order], 2)


def test_line_1_is_at_position_1():
    rows = [row | {"n": row["n"] + 1} for row in rows_of(list(synthetic(0, 4)), 0)]
    with pytest.raises(ValueError, match="do not follow"):
        written(rows, 9)
