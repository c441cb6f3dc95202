"""What happened to a lake before: hostile input, tables restored, a clock that went back. Later runs end as ever."""

import base64
import json
from dataclasses import replace
from datetime import timedelta

from strandline.dialects.ipfslog.author import to_blocks
from strandline.dialects.ipfslog.codec import canonical_cid
from strandline.dialects.ipfslog.types import record_id
from strandline.dialects.sdmp.author import synthetic
from strandline.dialects.sdmp.codec import render
from strandline.dialects.sdmp.types import line_hash
from support.ipfslog_cases import entry, who
from support.ipfslog_tampering import BLOCKS, CASES, MADE, PARENT
from support.lakes import Lake, write_files
from support.mutations import tampered
from support.random_deliveries import corpus as logs
from support.random_journals import corpus as journals

HELD = (
    "ipfs_log_entry", "ipfs_log_identity", "ipfs_log_head", "ipfs_log_tail", "ipfs_log_view", "ipfs_log_document",
    "namespace_state", "equivocation",
)  # fmt: skip
BROKEN = {
    "cut.gz": b"\x1f\x8b\x08\0\0\0\0\0\0\x03cut", "nested.gz": b"\x1f\x8b", "archive.zip": b"PK\x03\x04", "empty": b"",
    "zeros": bytes(100_000), "mark": b"\xef\xbb\xbf", "brackets.jsonl": b"[" * 10_000,
}  # fmt: skip


def logs_of(lake):
    return Lake(lake.spark, lake.settings, lake.path, dialect="ipfslog")


def test_no_hostile_input_keeps_a_clean_one_from_landing(new_lake, tmp_path):
    lake = new_lake()
    cases = [case for case in tampered(0) if not case.strict]
    hostile = {f"{at:03}": case.data for at, case in enumerate(cases)}
    lake.ingest(write_files(tmp_path / "hostile", hostile | BROKEN))
    last = 2 * len(list(tampered(0)))
    clean = {
        f"{i}-{profile}": render(synthetic(i, 5, profile))
        for i in range(last + 1)
        for profile in ("0.9", "0.12")
    }
    report = lake.ingest(write_files(tmp_path / "clean", clean))
    assert (report.counts["rejected"], report.counts["deferred"]) == (0, 0)
    assert report.counts["new"] + report.counts["known"] == 5 * len(clean)
    stored = {row[0] for row in lake.rows("node_journal_line", "line_hash")}
    for name, text in clean.items():
        for line in text.split(b"\n"):
            assert line_hash(line, name.partition("-")[2]) in stored, name

    entries = logs_of(lake)
    blocks = [BLOCKS[name][1](variant) for name, variant in CASES]
    entries.ingest(
        write_files(tmp_path / "blocks", {"hostile.jsonl": _raw(blocks), **BROKEN}), format="lines"
    )
    made = [PARENT, entry("parent", "core2"), *MADE.values()]
    known = [who(name, "core2").record for name in ("alice", "bob")]
    report = entries.ingest(write_files(tmp_path / "made", {"clean.jsonl": to_blocks(made, known)}))
    assert (report.counts["rejected"], report.counts["deferred"]) == (0, 0)
    assert {each.record_id for each in made} <= {row[0] for row in lake.rows("ipfs_log_entry", "record_id")}
    assert lake.reduce().exit == 0


def _raw(blocks):
    return b"\n".join(
        json.dumps(
            {"cid": canonical_cid(record_id(block)), "data": base64.b64encode(block).decode()}
        ).encode()
        for block in blocks
    )


def test_tables_restored_to_an_older_version_are_reduced_as_what_they_hold(new_lake, tmp_path):
    lake = new_lake(dialect="ipfslog")
    first, second = (
        write_files(tmp_path / str(number), files) for number, files in enumerate(logs(46, 20, 2))
    )
    lake.ingest(first)
    lake.reduce()
    versions, before = lake.versions(), {table: lake.rows(table) for table in HELD}
    lake.ingest(second)
    lake.reduce()
    after = {table: lake.rows(table) for table in HELD}
    assert after != before
    for table in ("ipfs_log_entry", "ipfs_log_identity", "ipfs_log_manifest"):
        lake.spark.sql(
            f"RESTORE TABLE delta.`{lake.path / table}` TO VERSION AS OF {versions[table]}"
        ).collect()
    report = lake.reduce()
    assert report.exit == 0
    assert {table: lake.rows(table) for table in HELD} == before
    # What was undone lands again, and the next reduction is one of changes.
    lake.ingest(second)
    lake.reduce()
    assert {table: lake.rows(table) for table in HELD} == after


class Yesterday(Lake):
    """A lake whose runs are of a machine whose clock is a day behind."""

    @staticmethod
    def context(store, command, faults=None):
        context = Lake.context(store, command, faults)
        return replace(context, started_at=context.started_at - timedelta(days=1))


def test_a_clock_that_goes_back_by_a_day_changes_no_table(new_lake, tmp_path):
    lake, calm = new_lake("lake"), new_lake("calm")
    runs = [write_files(tmp_path / str(number), files) for number, files in enumerate(journals(47, 14, 3))]
    behind = Yesterday(lake.spark, lake.settings, lake.path)
    for turn, source in zip((lake, behind, lake), runs, strict=True):
        turn.ingest(source)
        turn.reduce()
        behind.ingest(runs[0])
    for source in runs:
        calm.ingest(source)
        calm.reduce()
    assert lake.tables() == calm.tables()
    other = new_lake("other")
    Yesterday(other.spark, other.settings, other.path).bring(lake)
    assert other.rows("node_journal") == calm.rows("node_journal")
