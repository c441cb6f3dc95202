"""MERGE: the exact text a policy, the clauses that it must not have, and what it refuses."""

import pytest

from strandline.contracts import load, merge
from strandline.contracts.quoting import quote_name, quote_path

LINES = load.contract("node_journal_line")
TARGET = quote_path("/lake/node_journal_line")


def test_the_union_merge_as_text():
    assert (
        merge.insert_only_merge_sql(LINES, target=TARGET, source="batch", buckets=[9, 3, 9])
        == """\
MERGE INTO delta.`/lake/node_journal_line` AS t
USING `batch` AS s
ON t.bucket IN (3, 9)
  AND t.bucket = s.bucket
  AND t.namespace = s.namespace
  AND t.record_id = s.record_id
WHEN NOT MATCHED THEN INSERT (namespace, bucket, record_id, profile, n, line_number, line_hash, author_fp, resource_id, origin, run_id, source, landed_at)
VALUES (s.namespace, s.bucket, s.record_id, s.profile, s.n, s.line_number, s.line_hash, s.author_fp, s.resource_id, s.origin, s.run_id, s.source, s.landed_at)"""  # noqa: E501
    )


def test_the_layout_column_bounds_the_union_merge():
    bounded = merge.insert_only_merge_sql(
        LINES, target=TARGET, source="batch", buckets=[3], bounds={"n": (1_000_001, 1_001_000)}
    )
    assert "ON t.bucket IN (3)\n" in bounded
    assert "\n  AND t.record_id = s.record_id\n  AND t.n BETWEEN 1000001 AND 1001000\nWHEN" in bounded
    assert " OR " not in bounded


def test_the_union_merge_only_inserts():
    text = merge.insert_only_merge_sql(LINES, target=TARGET, source="batch", buckets=range(16))
    assert text.count("WHEN") == 1
    assert "UPDATE" not in text
    assert "DELETE" not in text
    assert "*" not in text


def test_the_replacing_merge_as_text_leaves_rows_alone_that_differ_in_provenance_only():
    target = quote_name("cat", "sch", "namespace_state")
    assert (
        merge.replace_merge_sql(load.contract("namespace_state"), target=target, source="news", buckets=[0])
        == """\
MERGE INTO `cat`.`sch`.`namespace_state` AS t
USING `news` AS s
ON t.bucket IN (0)
  AND t.bucket = s.bucket
  AND t.namespace = s.namespace
WHEN MATCHED AND NOT (
    t.dialect <=> s.dialect
    AND t.record_count <=> s.record_count
    AND t.state_hash <=> s.state_hash
    AND t.reducer_version <=> s.reducer_version
    AND t.depends_on <=> s.depends_on
    AND t.order_blocks <=> s.order_blocks
    AND t.document_groups <=> s.document_groups
    AND t.configuration <=> s.configuration
) THEN UPDATE SET
  dialect = s.dialect,
  record_count = s.record_count,
  state_hash = s.state_hash,
  reducer_version = s.reducer_version,
  depends_on = s.depends_on,
  order_blocks = s.order_blocks,
  document_groups = s.document_groups,
  configuration = s.configuration,
  reduced_version = s.reduced_version,
  reduced_at = s.reduced_at,
  run_id = s.run_id
WHEN NOT MATCHED THEN INSERT (namespace, bucket, dialect, record_count, state_hash, reducer_version, depends_on, order_blocks, document_groups, configuration, reduced_version, reduced_at, run_id)
VALUES (s.namespace, s.bucket, s.dialect, s.record_count, s.state_hash, s.reducer_version, s.depends_on, s.order_blocks, s.document_groups, s.configuration, s.reduced_version, s.reduced_at, s.run_id)"""  # noqa: E501
    )


@pytest.mark.parametrize(
    ("table", "of", "updates"),
    [
        ("ipfs_log_head", merge.replace_merge_sql, "WHEN MATCHED AND NOT ("),
        ("quarantine", merge.upsert_merge_sql, "WHEN MATCHED THEN UPDATE SET"),
    ],
)
def test_a_merge_that_deletes_does_so_by_a_mark_before_it_updates_and_never_inserts_what_is_marked(
    table, of, updates
):
    described = load.contract(table)
    plain = of(described, target=TARGET, source="news", buckets=[0])
    text = of(described, target=TARGET, source="news", buckets=[0], deleting=True)
    assert text.index("WHEN MATCHED AND s.is_gone THEN DELETE\n") < text.index(updates)
    assert "WHEN NOT MATCHED AND NOT s.is_gone THEN INSERT (" in text
    unmarked = text.replace("WHEN MATCHED AND s.is_gone THEN DELETE\n", "").replace(" AND NOT s.is_gone", "")
    assert unmarked == plain


def test_a_replacing_merge_compares_the_entries_of_maps():
    text = merge.replace_merge_sql(load.contract("capability"), target=TARGET, source="news", buckets=[0])
    assert "    AND map_entries(t.limits) <=> map_entries(s.limits)\n" in text
    assert "    t.actions <=> s.actions\n" in text
    assert "  limits = s.limits,\n" in text


def test_the_layout_column_bounds_a_replacing_merge_too():
    bounded = merge.replace_merge_sql(
        load.contract("ipfs_log_view"), target=TARGET, source="news", buckets=[3], bounds={"position": (7, 9)}
    )
    assert "\n  AND t.record_id = s.record_id\n  AND t.position BETWEEN 7 AND 9\nWHEN MATCHED" in bounded
    with pytest.raises(ValueError, match="layout column"):
        merge.replace_merge_sql(
            load.contract("ipfs_log_view"), target=TARGET, source="news", buckets=[3], bounds={"rank": (7, 9)}
        )


def test_the_merge_of_quarantine_counts_a_run_once():
    text = merge.upsert_merge_sql(
        load.contract("quarantine"), target=quote_path("/lake/quarantine"), source="refused", buckets=[1, 2]
    )
    head, rest = text.split("WHEN NOT MATCHED THEN INSERT ")
    assert (
        head
        == """\
MERGE INTO delta.`/lake/quarantine` AS t
USING `refused` AS s
ON t.bucket IN (1, 2)
  AND t.bucket = s.bucket
  AND t.quarantine_id = s.quarantine_id
WHEN MATCHED THEN UPDATE SET
  reasons = s.reasons,
  waits_for = s.waits_for,
  evidence = least(t.evidence, s.evidence),
  rules_version = s.rules_version,
  last_seen = greatest(t.last_seen, s.last_seen),
  times_seen = t.times_seen + CASE WHEN t.last_run = s.last_run THEN 0 ELSE 1 END,
  last_run = s.last_run
"""
    )
    assert rest.startswith("(quarantine_id, bucket, namespace, ")


def test_the_merge_of_collections_can_leave_rows_that_have_ended():
    described = load.contract("gc_run")
    plain, only_open = (
        merge.upsert_merge_sql(described, target=TARGET, source="closed", buckets=[1], where=where)
        for where in ("", "t.outcome = 'PROVED'")
    )
    assert "\nWHEN MATCHED THEN UPDATE SET\n  outcome = s.outcome,\n" in plain
    assert only_open == plain.replace("WHEN MATCHED THEN", "WHEN MATCHED AND t.outcome = 'PROVED' THEN")


def test_the_merge_that_deletes_names_buckets_and_key_and_does_nothing_else():
    text = merge.delete_merge_sql(
        load.contract("quarantine"), target=quote_path("/lake/quarantine"), source="admitted", buckets=[2, 1]
    )
    assert (
        text
        == """\
MERGE INTO delta.`/lake/quarantine` AS t
USING `admitted` AS s
ON t.bucket IN (1, 2)
  AND t.bucket = s.bucket
  AND t.quarantine_id = s.quarantine_id
WHEN MATCHED THEN DELETE"""
    )


def test_the_merge_that_deletes_old_rows_leaves_those_that_are_no_longer_old():
    text = merge.delete_merge_sql(
        load.contract("quarantine"), target="t", source="admitted", buckets=[2], below="last_seen"
    )
    assert text.endswith("\nWHEN MATCHED AND t.last_seen < s.last_seen THEN DELETE")


def test_the_merge_that_erases_as_text():
    text = merge.erase_merge_sql(
        load.contract("device_log_entry"), target=quote_path("/lake/device_log_entry"), source="gone", buckets=[2],
        column="body",
    )  # fmt: skip
    assert (
        text
        == """\
MERGE INTO delta.`/lake/device_log_entry` AS t
USING `gone` AS s
ON t.bucket IN (2)
  AND t.bucket = s.bucket
  AND t.namespace = s.namespace
  AND t.record_id = s.record_id
WHEN MATCHED AND t.body IS NOT NULL THEN UPDATE SET
  body = NULL,
  erased_at = current_timestamp()"""
    )
    with pytest.raises(ValueError, match="no bucket"):
        merge.erase_merge_sql(LINES, target=TARGET, source="gone", buckets=[], column="body")


@pytest.mark.parametrize("table", ["node_journal", "equivocation", "namespace_state"])
def test_a_replacing_merge_writes_every_column_and_never_moves_a_key(table: str):
    contract = load.contract(table)
    text = merge.replace_merge_sql(contract, target=TARGET, source="news", buckets=[0])
    fixed = {*contract.key, "bucket"}
    for name in contract.names:
        assert (f"  {name} = s.{name}" in text.split("UPDATE SET")[1]) == (name not in fixed)
        assert f"s.{name}" in text.split("VALUES")[1]


def test_a_merge_of_an_empty_batch_is_a_mistake():
    with pytest.raises(ValueError, match="names no bucket"):
        merge.insert_only_merge_sql(LINES, target=TARGET, source="batch", buckets=[])


def test_a_bound_stands_on_the_layout_column_alone():
    with pytest.raises(ValueError, match="its layout column is n"):
        merge.insert_only_merge_sql(LINES, target=TARGET, source="b", buckets=[1], bounds={"bucket": (1, 2)})


def test_no_policy_renders_the_merge_of_another():
    for render in (merge.replace_merge_sql, merge.upsert_merge_sql):
        with pytest.raises(ValueError, match="merges by insert_only"):
            render(LINES, target=TARGET, source="batch", buckets=[1])
    with pytest.raises(ValueError, match="merges by append"):
        merge.insert_only_merge_sql(load.contract("run"), target=TARGET, source="batch", buckets=[1])


def test_the_name_of_the_source_is_quoted():
    text = merge.insert_only_merge_sql(LINES, target=TARGET, source="b` ON true --", buckets=[1])
    assert "USING `b`` ON true --` AS s\n" in text


@pytest.mark.parametrize("hostile", ["1) OR (1=1", None])
def test_a_bucket_that_is_no_number_never_becomes_sql(hostile: object):
    with pytest.raises((ValueError, TypeError)):
        merge.insert_only_merge_sql(LINES, target=TARGET, source="batch", buckets=[hostile])  # type: ignore[list-item]


def test_the_merge_that_continues_journals_matches_on_the_next_position_and_inserts_alone():
    text = merge.continue_merge_sql(LINES, target=TARGET, source="lines", buckets=[3, 1], bounds=(5, 9))
    condition, insert = text.split("WHEN NOT MATCHED THEN INSERT ")
    assert condition.splitlines()[2:] == [
        "ON t.bucket IN (1, 3)",
        "  AND t.bucket = s.bucket",
        "  AND t.namespace = s.namespace",
        "  AND t.n = s.next_n",
        "  AND t.n BETWEEN 5 AND 9",
    ]
    assert insert.startswith(f"({', '.join(LINES.names)})")
    assert "MATCHED THEN UPDATE" not in text


def test_the_merge_into_a_slot_matches_on_one_column_and_inserts_alone():
    facts = load.contract("aura_fact")
    text = merge.slot_merge_sql(facts, target=TARGET, source="charge", buckets=[3], column="order_token")
    condition, insert = text.split("WHEN NOT MATCHED THEN INSERT ")
    assert condition.splitlines()[2:] == [
        "ON t.bucket IN (3)",
        "  AND t.bucket = s.bucket",
        "  AND t.namespace = s.namespace",
        "  AND t.order_token = s.slot",
    ]
    assert insert.startswith(f"({', '.join(facts.names)})")
    with pytest.raises(ValueError, match="no column slot"):
        merge.slot_merge_sql(facts, target=TARGET, source="charge", buckets=[3], column="slot")


def test_only_a_record_table_with_positions_is_continued():
    with pytest.raises(ValueError, match="no layout column"):
        merge.continue_merge_sql(
            load.contract("node_resource"), target=TARGET, source="b", buckets=[1], bounds=(1, 1)
        )


def test_a_key_that_can_be_null_is_compared_null_safe():
    tips = load.contract("device_log_tip")
    sql = merge.replace_merge_sql(tips, target="tips", source="batch", buckets=[1])
    assert "t.namespace = s.namespace" in sql
    assert "t.log = s.log" in sql
    assert "t.record_id <=> s.record_id" in sql


@pytest.mark.parametrize("table", ["node_journal", "quarantine", "run"])
def test_only_rows_that_are_never_replaced_are_inserted_into_a_slot(table):
    contract = load.contract(table)
    with pytest.raises(ValueError, match="not by insert_only"):
        merge.slot_merge_sql(contract, target=TARGET, source="b", buckets=[3], column=contract.names[0])
