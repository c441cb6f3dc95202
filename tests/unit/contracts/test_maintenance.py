"""The statements of `maintain`, as text."""

from strandline.contracts.maintenance import (
    optimize_sql,
    set_retention_sql,
    vacuum_sql,
)


def test_a_compaction_names_its_buckets_or_the_whole_table() -> None:
    assert (
        optimize_sql(target="delta.`/l/t`", buckets=(0, 13))
        == "OPTIMIZE delta.`/l/t` WHERE bucket IN (0, 13)"
    )
    assert optimize_sql(target="c.s.t", buckets=()) == "OPTIMIZE c.s.t"
    assert optimize_sql(target="c.s.t", buckets=(2,), order=("namespace", "n")) == (
        "OPTIMIZE c.s.t WHERE bucket IN (2) ZORDER BY (`namespace`, `n`)"
    )


def test_files_are_removed_by_hours() -> None:
    assert vacuum_sql(target="c.s.t", hours=721) == "VACUUM c.s.t RETAIN 721 HOURS"
    assert vacuum_sql(target="c.s.t", hours=0, dry_run=True) == "VACUUM c.s.t RETAIN 0 HOURS DRY RUN"


def test_commits_and_files_are_kept_for_the_same_time() -> None:
    assert set_retention_sql(target="c.s.t", days=60) == (
        "ALTER TABLE c.s.t SET TBLPROPERTIES ('delta.logRetentionDuration' = 'interval 60 days', "
        "'delta.deletedFileRetentionDuration' = 'interval 60 days')"
    )
