"""CREATE TABLE: the exact text, and that nothing hostile gets through the quoting."""

import dataclasses
import re

import pytest

from strandline.contracts import ddl, load
from strandline.contracts.quoting import (
    MAX_BUCKETS,
    in_list,
    is_legal_name,
    quote_name,
    quote_path,
    quote_text,
    with_buckets,
)
from strandline.core.errors import UsageError

NAMESPACE_STATE = """\
CREATE TABLE IF NOT EXISTS delta.`/lake/namespace_state` (
  namespace STRING NOT NULL COMMENT 'The unit of merging and of state, <kind>:<id>; of a node journal node:<key fingerprint>.',
  bucket INT NOT NULL COMMENT 'Partition: first two bytes of SHA-256 of the namespace as a big-endian number, modulo the lake\\'s number of buckets.',
  dialect STRING NOT NULL COMMENT 'Journal format of the namespace, sdmp for node journals, ipfslog for logs.',
  record_count BIGINT NOT NULL COMMENT 'Number of accepted records that the state was reduced from, including pruned ones.',
  state_hash BINARY NOT NULL COMMENT 'SHA-256 of the canonical encoding of the state, 32 bytes; independent of the order of arrival.',
  reducer_version STRING NOT NULL COMMENT 'Version of the reducer, for example sdmp/1; hashes are comparable only for equal versions.',
  depends_on ARRAY<STRUCT<namespace: STRING, commitment: BINARY>> COMMENT 'States of other namespaces on which this state depends, ascending; null without any, as in node journals.',
  order_blocks BINARY COMMENT 'Concatenated hashes of the order of a log, one per block of 65,536 positions; a block without changes keeps its hash. Null for a log of one block, and in other dialects.',
  document_groups BINARY COMMENT 'Concatenated hashes of the 256 groups of documents of the store of a log. Null for a log of one block, without such a store, and in other dialects.',
  configuration STRING COMMENT 'Configuration of the reducer for this namespace, as JSON with sorted keys; for a log its store, who may write, and the source of both. For a list of a manifest that makes it longer than 4,096 characters, write_list has the record_id of the manifest in hex instead. Null without one.',
  reduced_version BIGINT NOT NULL COMMENT 'Delta version of the dialect\\'s record table that the state was reduced from.',
  reduced_at TIMESTAMP NOT NULL COMMENT 'When the state was written, UTC.',
  run_id STRING NOT NULL COMMENT 'Run that wrote the state; key of the table run.'
)
USING DELTA
PARTITIONED BY (bucket)
COMMENT 'State hash and record count of each reduced namespace, one row per namespace; reduce writes it last.'
TBLPROPERTIES (
  'delta.checkpointPolicy' = 'classic',
  'delta.constraints.bucket_is_derived' = 'bucket = CAST(conv(substring(sha2(CAST(namespace AS BINARY), 256), 1, 4), 16, 10) AS INT) % 16',
  'delta.constraints.record_count_is_not_negative' = 'record_count >= 0',
  'delta.constraints.reduced_version_is_not_negative' = 'reduced_version >= 0',
  'delta.constraints.state_hash_is_a_digest' = 'length(state_hash) = 32',
  'delta.dataSkippingStatsColumns' = 'namespace',
  'delta.enableChangeDataFeed' = 'true',
  'delta.enableDeletionVectors' = 'false',
  'delta.isolationLevel' = 'Serializable',
  'strandline.buckets' = '16',
  'strandline.contract' = '1.0.0'
)"""  # noqa: E501

RUN = """\
CREATE TABLE IF NOT EXISTS `cat`.`sch`.`run` (
  run_id STRING NOT NULL COMMENT 'Id of the run, used in the provenance columns of other tables.',
  command STRING NOT NULL COMMENT 'Command that ran, for example ingest or reduce.',
  version STRING NOT NULL COMMENT 'Version of Strandline that ran.',
  outcome STRING NOT NULL COMMENT 'ok; found: finished and found a problem; usage: wrong usage; fault: operational fault.',
  lake STRING NOT NULL COMMENT 'Lake folder or catalog.schema that the run wrote to.',
  dialect STRING COMMENT 'Dialect that was ingested; null for a command that works on all dialects.',
  exit INT NOT NULL COMMENT 'Exit code: 0 ok, 1 found, 2 usage, 3 fault.',
  started_at TIMESTAMP NOT NULL COMMENT 'When the command started, UTC.',
  seconds DOUBLE NOT NULL COMMENT 'Wall time of the whole command in seconds, including the start of Spark.',
  namespaces BIGINT COMMENT 'Number of namespaces that the run touched.',
  counts MAP<STRING, BIGINT> COMMENT 'Counts by name; for ingest read, new, known, rejected, deferred, readmitted and more.',
  reasons MAP<STRING, BIGINT> COMMENT 'Number of records by reason code; a record counts for each of its codes.',
  read_versions MAP<STRING, BIGINT> COMMENT 'Delta version of each table that the run read.',
  tables MAP<STRING, STRUCT<version: BIGINT, inserted: BIGINT>> COMMENT 'By written table: the Delta version after the run, and the number of inserted rows.',
  error STRUCT<code: STRING, message: STRING, next: STRING> COMMENT 'The error, for outcome usage and fault; else null.',
  detail STRING COMMENT 'JSON object of further members of the report.'
)
USING DELTA
COMMENT 'Runs of the commands that write tables, one row per run, appended last. Not partitioned.'
TBLPROPERTIES (
  'delta.checkpointPolicy' = 'classic',
  'delta.constraints.exit_fits_outcome' = 'exit = CASE outcome WHEN \\'ok\\' THEN 0 WHEN \\'found\\' THEN 1 WHEN \\'usage\\' THEN 2 ELSE 3 END',
  'delta.constraints.namespaces_is_not_negative' = 'namespaces IS NULL OR namespaces >= 0',
  'delta.constraints.outcome_is_known' = 'outcome IN (\\'ok\\', \\'found\\', \\'usage\\', \\'fault\\')',
  'delta.constraints.seconds_is_not_negative' = 'seconds >= 0',
  'delta.dataSkippingStatsColumns' = 'run_id,started_at',
  'delta.enableDeletionVectors' = 'false',
  'delta.isolationLevel' = 'Serializable',
  'delta.logRetentionDuration' = 'interval 7 days',
  'delta.setTransactionRetentionDuration' = 'interval 7 days',
  'strandline.contract' = '1.0.0'
)"""  # noqa: E501


def test_the_ddl_of_namespace_state_as_text():
    text = ddl.create_table_sql(
        load.contract("namespace_state"), target=quote_path("/lake/namespace_state"), buckets=16
    )
    assert text == NAMESPACE_STATE


def test_the_ddl_of_run_as_text_names_no_buckets():
    assert (
        ddl.create_table_sql(load.contract("run"), target=quote_name("cat", "sch", "run"), buckets=16) == RUN
    )


@pytest.mark.parametrize("table", load.tables())
def test_each_column_of_a_contract_is_in_its_ddl_with_type_null_and_comment(table: str):
    contract = load.contract(table)
    statement = ddl.create_table_sql(contract, target=quote_path("/lake/x"), buckets=7)
    lines = iter(statement.splitlines()[1:])
    for column, line in zip(contract.columns, lines, strict=False):
        not_null = " NOT NULL" if column.required else ""
        comment = quote_text(column.description)
        expected = f"{column.name} {column.physical_type}{not_null} COMMENT {comment}"
        assert line.strip().removesuffix(",") == expected
        assert expected in ddl.columns_ddl(contract)
    assert "{buckets}" not in statement
    assert not contract.is_bucketed or "% 7'" in statement


def test_properties_of_the_lake_join_those_of_the_contract():
    contract = load.contract("node_journal_line")
    properties = ddl.table_properties(contract, buckets=4, properties={"strandline.sdmp.reading": "strict"})
    assert properties["strandline.sdmp.reading"] == "strict"
    assert properties["strandline.buckets"] == "4"
    assert properties["strandline.contract"] == contract.version
    assert properties["delta.appendOnly"] == "true"
    assert properties["delta.constraints.record_id_is_a_digest"] == "length(record_id) = 32"
    assert list(properties) == sorted(properties)


@pytest.mark.parametrize("buckets", [0, -1, 65_537])
def test_a_number_of_buckets_that_two_bytes_cannot_fill_is_refused(buckets: int):
    with pytest.raises(ValueError, match="not in 1"):
        ddl.check_sql(load.contract("node_journal"), buckets=buckets)


def test_comments_cannot_leave_their_quotes():
    contract = load.contract("run")
    hostile = dataclasses.replace(contract.columns[0], description="x' , evil INT COMMENT \\' ${env:HOME}\n.")
    text = ddl.columns_ddl(dataclasses.replace(contract, columns=(hostile,)))
    assert text == "run_id STRING NOT NULL COMMENT 'x\\' , evil INT COMMENT \\\\\\' \\u0024{env:HOME}\\n.'"


@pytest.mark.parametrize(
    ("path", "quoted"),
    [
        ("/lake/t", "delta.`/lake/t`"),
        ("/la`ke/t", "delta.`/la``ke/t`"),
        ("/x`; DROP TABLE y; --/t", "delta.`/x``; DROP TABLE y; --/t`"),
        ("``", "delta.``````"),
        ('/o\'brien "q"/t', 'delta.`/o\'brien "q"/t`'),
        ("s3a://bucket/a b/%2F?x=1#y/t", "delta.`s3a://bucket/a b/%2F?x=1#y/t`"),
        ("/näive/🌊/t", "delta.`/näive/🌊/t`"),
        ("/back\\slash/$HOME/t", "delta.`/back\\slash/$HOME/t`"),
    ],
)
def test_a_path_stands_in_backticks_whatever_it_holds(path: str, quoted: str):
    assert quote_path(path) == quoted
    inside = quoted.removeprefix("delta.`").removesuffix("`")
    assert not re.search(r"(?<!`)(``)*`(?!`)", inside)
    assert inside.replace("``", "`") == path


@pytest.mark.parametrize("path", ["", "/a\nb", "/a\x00b", "/a\x7fb", "/${spark.master}/t", "/${env:HOME}"])
def test_what_spark_cannot_quote_is_wrong_usage(path: str):
    with pytest.raises(UsageError) as refused:
        quote_path(path)
    assert refused.value.code == "NAME_NOT_QUOTABLE"
    with pytest.raises(UsageError):
        quote_name("cat", path)


def test_the_parts_of_a_name_are_quoted_one_by_one():
    assert quote_name("cat", "sch", "node_journal") == "`cat`.`sch`.`node_journal`"
    assert quote_name("a.b", "c`d") == "`a.b`.`c``d`"
    with pytest.raises(UsageError):
        quote_name()


@pytest.mark.parametrize("name", ["a", "_", "node_journal", "A9", "x" * 128])
def test_plain_names_are_legal(name: str):
    assert is_legal_name(name)


@pytest.mark.parametrize("name", ["", "9a", "a-b", "a b", "a`", "a;", "é", "a\n", "x" * 129, "a.b"])
def test_other_names_are_not(name: str):
    assert not is_legal_name(name)


@pytest.mark.parametrize("table", load.tables())
def test_constraints_are_added_one_by_one_where_create_table_does_not_take_them(table: str):
    contract, target = load.contract(table), quote_name("cat", "sch", table)
    checks = ddl.check_sql(contract, buckets=4)
    bare = ddl.create_table_sql(contract, target=target, buckets=4, with_checks=False)
    assert "delta.constraints." not in bare
    statements = ddl.add_checks_sql(contract, target=target, buckets=4, properties={})
    assert list(statements) == [
        f"ALTER TABLE {target} ADD CONSTRAINT {name} CHECK ({checks[name]})" for name in sorted(checks)
    ]
    stored = ddl.table_properties(contract, buckets=4)
    assert ddl.add_checks_sql(contract, target=target, buckets=4, properties=stored) == ()
    for name in checks:
        left = {each: value for each, value in stored.items() if not each.endswith(f".{name}")}
        [one] = ddl.add_checks_sql(contract, target=target, buckets=4, properties=left)
        assert f" {name} " in one


def test_a_table_of_an_older_contract_gets_the_missing_columns_and_the_new_version():
    described = load.contract("ipfs_log_identity")
    older = [name for name in described.names if name not in ("source", "landed_at")]
    added = ddl.add_columns_sql(described, target="delta.`/lake/ipfs_log_identity`", present=older)
    assert added is not None
    assert added.startswith(
        "ALTER TABLE delta.`/lake/ipfs_log_identity` ADD COLUMNS (\n  source STRING COMMENT '"
    )
    assert "',\n  landed_at TIMESTAMP COMMENT '" in added
    assert added.endswith("'\n)")
    assert ddl.add_columns_sql(described, target="t", present=described.names) is None
    assert ddl.set_contract_sql(described, target="t") == (
        f"ALTER TABLE t SET TBLPROPERTIES ('strandline.contract' = '{described.version}')"
    )


def test_values_of_a_list_are_digits_and_hex_digits_whatever_they_say() -> None:
    assert in_list("bucket", [1, 65_535, -2]) == "`bucket` IN (1, 65535, -2)"
    assert in_list("line_hash", [b"\x00'", bytearray(b"\xff")]) == "`line_hash` IN (X'0027', X'ff')"
    for text in ("node:a", "it's", "') OR (1 = 1", "\\'", "${x}", "\n", "\u4e16", ""):
        hexed = text.encode().hex()
        assert in_list("namespace", [text]) == f"`namespace` IN (CAST(X'{hexed}' AS STRING))"
    with pytest.raises(UnicodeEncodeError):
        in_list("namespace", ["\udcff"])


def test_a_property_of_the_lake_overrides_one_of_the_contract_and_a_constraint_is_there_in_any_case_of_letters():
    journal = load.contract("node_journal")
    stated = ddl.table_properties(journal, buckets=2)
    for name in stated:
        assert ddl.table_properties(journal, buckets=2, properties={name: "mine"}) == stated | {name: "mine"}
    checks = [name for name in stated if name.startswith(ddl.CHECK_PROPERTY)]
    named = dataclasses.replace(journal, checks={name.title(): text for name, text in journal.checks.items()})
    for spelled in (str.lower, str.upper, str):
        for contract in (journal, named):
            there = dict.fromkeys(map(spelled, checks), "x")
            assert ddl.add_checks_sql(contract, target="t", buckets=2, properties=there) == ()


@pytest.mark.parametrize("buckets", [1, MAX_BUCKETS])
def test_buckets_are_one_up_to_as_many_as_two_bytes_tell(buckets: int):
    assert with_buckets("a % {buckets}", buckets) == f"a % {buckets}"
