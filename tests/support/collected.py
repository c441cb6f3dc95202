"""What collections leave in the tables of a lake, whatever the dialect."""

from decimal import Decimal


def carries(lake):
    """The carries of applied snapshots by namespace."""
    return dict(
        lake.asked(
            "SELECT s.namespace, s.carry FROM snapshot AS s JOIN (SELECT namespace, max_by(snapshot_id, gc_number) AS "
            "snapshot_id FROM pruned_record GROUP BY namespace) AS a ON a.namespace = s.namespace AND "
            "a.snapshot_id = s.snapshot_id"
        )
    )


def outcomes(report):
    """Outcome, reason and number of pruned records of each collection of a run, by namespace."""
    return {
        row["namespace"]: (row["outcome"], row["reason"], row["pruned"])
        for row in report.members["collections"]
    }


def assert_listed(lake, gone):
    """`pruned_record` lists what the plain plans free: members by namespace and record id."""
    listed = lake.rows("pruned_record", "namespace", "record_id", "alt_id", "skeleton", "generation", "kind")
    assert [row for row in listed if row[:2] in gone] == sorted(
        (
            (*place, each.alt_id, each.skeleton, Decimal(each.generation), each.kind)
            for place, each in gone.items()
        ),
        key=repr,
    )
