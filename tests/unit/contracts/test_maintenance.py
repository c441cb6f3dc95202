"""The statements of `maintain`, as text."""

from strandline.contracts.maintenance import (
    advance_sql,
    optimize_sql,
    restart_sql,
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


def test_a_state_is_advanced_only_if_nobody_else_did() -> None:
    assert advance_sql(target="c.s.t", version=7, before=5, namespace="log:it's", bucket=3) == (
        "UPDATE c.s.t SET reduced_version = 7 WHERE bucket = 3 AND namespace = 'log:it\\'s' AND reduced_version = 5"
    )


def test_a_dialect_is_reduced_up_to_one_version_in_all_of_its_states() -> None:
    assert restart_sql(target="c.s.t", dialect="sdmp", version=0) == (
        "UPDATE c.s.t SET reduced_version = 0 WHERE dialect = 'sdmp' AND reduced_version != 0"
    )


def test_commits_and_files_are_kept_for_the_same_time() -> None:
    assert set_retention_sql(target="c.s.t", days=60) == (
        "ALTER TABLE c.s.t SET TBLPROPERTIES ('delta.logRetentionDuration' = 'interval 60 days', "
        "'delta.deletedFileRetentionDuration' = 'interval 60 days')"
    )
