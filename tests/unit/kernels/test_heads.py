"""Heads to positions: whatever hangs, directly or over others, on a known line gets its n, once."""

import random

import pyarrow as pa

from strandline.dialects.sdmp.kernels import RESOLVE_COLUMNS, resolve_heads
from strandline.dialects.sdmp.kernels.heads import MOST_ROWS

SCHEMA = pa.schema(
    [
        ("namespace", pa.string()), ("head_id", pa.string()), ("attached_n", pa.int64()), ("parent_id", pa.string()),
        ("parent_offset", pa.int64()),
    ]
)  # fmt: skip


def resolved(rows: list[tuple], size: int = 1000) -> dict[str, int]:
    assert SCHEMA.names == list(RESOLVE_COLUMNS)
    batches = [
        pa.RecordBatch.from_pylist(
            [dict(zip(SCHEMA.names, row, strict=True)) for row in rows[at : at + size]], SCHEMA
        )
        for at in range(0, len(rows), size)
    ]
    found = [(row["head_id"], row["n"]) for batch in resolve_heads(batches) for row in batch.to_pylist()]
    assert len(found) == len(dict(found))
    return dict(found)


def test_a_head_on_a_stored_line_is_one_further_and_its_children_count_on() -> None:
    rows = [
        ("a", "x", 4, None, None),
        ("a", "y", None, "x", 2),
        ("a", "z", None, "y", 0),
        ("a", "w", None, "x", 0),
    ]
    assert resolved(rows) == {"x": 5, "y": 8, "z": 9, "w": 6}


def test_line_1_hangs_on_nothing_at_0() -> None:
    assert resolved([("a", "x", 0, None, None)]) == {"x": 1}


def test_what_hangs_on_nothing_and_rings_stay_open() -> None:
    rows = [
        ("a", "x", None, None, None),
        ("a", "y", None, "x", 1),
        ("a", "p", None, "q", 0),
        ("a", "q", None, "p", 0),
    ]
    assert resolved([*rows, ("a", "self", None, "self", 0)]) == {}


def test_a_known_line_outweighs_a_parent_of_the_run() -> None:
    assert resolved([("a", "x", 9, "y", 3), ("a", "y", None, None, None)]) == {"x": 10}


def test_namespaces_do_not_see_each_other() -> None:
    assert resolved([("a", "x", 0, None, None), ("b", "y", None, "x", 0)]) == {"x": 1}


def test_no_rows_give_no_rows() -> None:
    assert resolved([]) == {}


def test_a_chain_of_20_000_heads_takes_no_recursion() -> None:
    rows = [("a", "0", 0, None, None)] + [("a", str(k), None, str(k - 1), 1) for k in range(1, 20_000)]
    assert resolved(rows, 5_000)["19999"] == 1 + 2 * 19_999


def test_any_order_inside_a_namespace_and_any_batches_give_the_same() -> None:
    rng = random.Random(6)
    rows, expected = [], {}
    for namespace in "abc":
        for k in range(40):
            head, offset = f"{namespace}{k}", rng.randrange(4)
            parent = f"{namespace}{rng.randrange(k)}" if k else None
            if k == 0 or rng.random() < 0.1:
                n = rng.randrange(100)
                rows.append((namespace, head, n, None, None))
                expected[head] = n + 1
            elif rng.random() < 0.1:
                rows.append((namespace, head, None, None, None))
            else:
                rows.append((namespace, head, None, parent, offset))
                if parent in expected:
                    expected[head] = expected[parent] + offset + 1
    assert resolved(rows) == expected
    for size in (1, 7, 40):
        rng.shuffle(rows)
        assert resolved(sorted(rows, key=lambda row: row[0]), size) == expected


def test_the_positions_of_many_heads_come_in_batches_of_bounded_size() -> None:
    columns = {
        "namespace": ["a"] * (2 * MOST_ROWS + 1), "head_id": [str(at) for at in range(2 * MOST_ROWS + 1)],
        "attached_n": [1] * (2 * MOST_ROWS + 1), "parent_id": None, "parent_offset": None,
    }  # fmt: skip
    rows = len(columns["head_id"])
    arrays = [pa.array(columns[field.name] or [None] * rows, field.type) for field in SCHEMA]
    batches = [batch.num_rows for batch in resolve_heads([pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)])]
    assert batches == [MOST_ROWS, MOST_ROWS, 1]
