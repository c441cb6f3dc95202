"""Spark's tables beside the pure-Python reference: equal row by row."""

from dataclasses import astuple

from strandline.core.ids import bucket_of
from support.places import BUCKETS

QUARANTINE = ("quarantine_id", "namespace", "status", "reasons", "raw", "waits_for", "evidence")
STATE = ("namespace", "bucket", "dialect", "record_count", "state_hash", "reducer_version", "depends_on")
EQUIVOCATION = (
    "equivocation_id", "namespace", "bucket", "dialect", "kind", "key", "position", "members", "member_count",
    "bytes_a", "bytes_b", "attributable", "evidence",
)  # fmt: skip


def assert_admitted_equal(lake, reference) -> None:
    """Lines with their positions, and rows of quarantine with their evidence, are those of the reference."""
    assert stored_lines(lake) == expected_lines(reference)
    expected = sorted(map(astuple, reference.quarantine.values()), key=repr)
    assert lake.rows("quarantine", *QUARANTINE) == expected


def assert_reduced_equal(lake, reference) -> None:
    """Rows of journals, states and forks are those of the reference."""
    journals, states, forks = [], [], []
    for name, state in reference.namespaces.items():
        row, bucket = state.journal, bucket_of(name, BUCKETS)
        leaves = tuple((leaf.n, leaf.record_id) for leaf in row.leaves)
        journals.append(
            (name, bucket, row.profile, row.tip_n, row.tip_number, row.tip_line, row.tip_hash, leaves, row.fork_count,
             row.common_n, row.line_count, row.pair_count, row.duplicate_pairs)
        )  # fmt: skip
        states.append((name, bucket, "sdmp", row.record_count, bytes.fromhex(row.state_hash), "sdmp/1", None))
        forks.extend((fork.equivocation_id, name, bucket, *astuple(fork)[2:]) for fork in state.forks)
    assert lake.rows("node_journal") == sorted(journals, key=repr)
    assert lake.rows("namespace_state", *STATE) == sorted(states, key=repr)
    assert lake.rows("equivocation", *EQUIVOCATION) == sorted(forks, key=repr)


def expected_lines(reference) -> list[tuple[str, bytes, int, bytes]]:
    """The lines that the reference holds: namespace, record id, n, bytes."""
    return sorted(
        (name, id_, n, state.lines[id_])
        for name, state in reference.namespaces.items()
        for id_, n in state.n.items()
    )


def stored_lines(lake) -> list[tuple[str, bytes, int, bytes]]:
    """The lines that the lake holds, put together from their columns."""
    found = []
    for name, id_, n, number, author, resource in lake.rows(
        "node_journal_line", "namespace", "record_id", "n", "line_number", "author_fp", "resource_id"
    ):
        raw = name.removeprefix("node:") if number is None else f"{number}@{author}/{resource}"
        found.append((name, id_, n, raw.encode()))
    return sorted(found)


def assert_held_equal(lake, reference) -> None:
    """Lines, quarantine and resources are those of the reference."""
    assert stored_lines(lake) == expected_lines(reference)
    rows = sorted(map(astuple, reference.quarantine.values()), key=repr)
    assert lake.rows("quarantine", *QUARANTINE) == rows
    held = [
        (row.namespace, bucket_of(row.namespace, BUCKETS), *astuple(row)[1:4], None if row.seq is None else row.seq,
         row.frame_no, row.pos, row.frame_hash, row.origin)
        for row in reference.resources.values()
    ]  # fmt: skip
    found = [
        (*row[:5], None if row[5] is None else int(row[5]), *row[6:]) for row in lake.rows("node_resource")
    ]
    assert sorted(found, key=repr) == sorted(held, key=repr)


def assert_peers_equal(lake, reference) -> None:
    """Rows of peers and of wanted resources are those of the reference."""

    def placed(row) -> tuple:
        namespace, *rest = astuple(row)
        return namespace, bucket_of(namespace, BUCKETS), *rest

    statuses = [placed(row) for node in reference.own for row in reference.peer_statuses(node)]
    wanted = [placed(row) for node in reference.own for row in reference.wanted(node)]
    assert lake.rows("peer_status") == sorted(statuses, key=repr)
    assert lake.rows("wanted_resource") == sorted(wanted, key=repr)
