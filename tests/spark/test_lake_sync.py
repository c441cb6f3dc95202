"""`sync --from`: what comes is judged, kills leave nothing behind, wrong calls make nothing.

That a lake that brings all of another ends equal is a law of `support.conformance`.
"""

import pytest

from strandline.core.errors import UsageError
from strandline.dialects.ipfslog.author import to_blocks
from strandline.dialects.sdmp.author import append, synthetic, synthetic_id
from strandline.dialects.sdmp.codec import batch, render
from strandline.frames import differences
from strandline.tables.other_lake import OtherLake
from support.ipfslog_cases import entry, who
from support.kills import KilledError, killed_at
from support.lakes import Lake, write_files
from support.own_cases import journal_of, node_of, own_node
from support.own_runs import own_run


def held(lake, tables):
    """The rows of tables by name, without the bucket, which follows the number of buckets of the lake."""
    from strandline.contracts.load import contract

    return {
        table: lake.rows(table, *(name for name in contract(table).compared if name != "bucket"))
        for table in tables
    }


def logs_of(lake):
    """The same lake, for files of logs."""
    return Lake(lake.spark, lake.settings, lake.path, dialect="ipfslog")


KILLS = ("ingest.node_journal_line", "ingest.ipfs_log_identity")
"""Each dies behind the one before, which had moved the run on: lines are held that wait, then an identity is."""


@pytest.mark.slow
def test_a_run_killed_and_called_again_leaves_nothing_waiting_for_what_is_held_and_moves_nothing_twice(
    new_lake, tmp_path
):
    theirs, ours = new_lake("theirs"), new_lake("ours")
    lines = [list(synthetic(number, 9)) for number in range(4)]
    fork = [*lines[3][:5], *append(lines[3][4], [(synthetic_id("author", 1), synthetic_id("resource", 1))])]
    alice = who("alice", "core2")
    waits, comes = entry("waits", "core2", log_id="theirs no more"), entry("comes", "core2", time=7)
    files = {f"{number}.journal": render(each) for number, each in enumerate([*lines, fork])}
    theirs.ingest(write_files(tmp_path / "lines", files))
    logs_of(theirs).ingest(write_files(tmp_path / "blocks", {"a.jsonl": to_blocks([comes], [alice.record])}))
    # Here lines wait for others, and an entry for its identity, which comes alone: they do not hold the entry.
    node, number = lines[0][0].decode(), lines[0][6].partition(b"@")[0].decode()
    ours.ingest(write_files(tmp_path / "later", {"later.jsonl": batch(node, number, lines[0][6:8])}))
    logs_of(ours).ingest(write_files(tmp_path / "waits", {"waits.jsonl": to_blocks([waits])}))
    assert len(ours.rows("quarantine")) == 3

    planned = ours.bring(theirs, dry_run=True)
    assert len(ours.rows("quarantine")) == 3
    for point in KILLS:
        with pytest.raises(KilledError):
            ours.bring(theirs, faults=killed_at(point))
    assert held(ours, ["node_journal_line"]) == held(theirs, ["node_journal_line"])
    report = ours.bring(theirs)
    assert planned.counts["missing"] == 4 * 9 + 1 + 2
    assert (report.counts["missing"], report.counts["read"], report.counts["readmitted"]) == (1, 1, 1)
    assert ours.rows("quarantine") == []
    assert {row[0] for row in ours.rows("ipfs_log_entry", "record_id")} == {waits.record_id, comes.record_id}
    assert held(ours, ["ipfs_log_identity"]) == held(theirs, ["ipfs_log_identity"])
    assert len(ours.rows("namespace_state")) == 4 + 2

    # Of what is there nothing moves: one more line is one record.
    more = next(append(lines[1][-1], [(synthetic_id("author", 2), synthetic_id("resource", 2))]))
    theirs.ingest(write_files(tmp_path / "more", {"more.journal": render([*lines[1], more])}))
    report = ours.bring(theirs)
    assert (report.counts["missing"], report.counts["read"], report.counts["known"]) == (1, 1, 0)
    assert report.members["plan"] == [
        {
            "dialect": "sdmp",
            "namespace": f"node:{lines[1][0].decode()}",
            "there": 10,
            "here": 9,
            "missing": 1,
            "pruned_there": 0,
        },
    ]


def test_what_a_killed_run_let_in_waits_no_longer_after_a_sync_that_finds_nothing_missing(new_lake, tmp_path):
    theirs, ours = new_lake("theirs"), new_lake("ours")
    lines, alice, waits = list(synthetic(0, 9)), who("alice", "core2"), entry("waits", "core2")
    node, number = lines[0].decode(), lines[6].partition(b"@")[0].decode()
    whole = write_files(tmp_path / "whole", {"a.journal": render(lines)})
    identity = write_files(tmp_path / "identity", {"a.jsonl": to_blocks([], [alice.record])})
    ours.ingest(write_files(tmp_path / "later", {"later.jsonl": batch(node, number, lines[6:8])}))
    logs_of(ours).ingest(write_files(tmp_path / "waits", {"waits.jsonl": to_blocks([waits])}))
    for lake, files, point in (
        (ours, whole, "ingest.records"), (logs_of(ours), identity, "ingest.ipfs_log_identity"),
    ):  # fmt: skip
        with pytest.raises(KilledError):
            lake.ingest(files, faults=killed_at(point))
    assert len(ours.rows("quarantine")) == 3

    theirs.ingest(whole)
    logs_of(theirs).ingest(identity)
    report = ours.bring(theirs)
    assert (report.counts["missing"], report.counts["readmitted"], report.exit) == (0, 1, 0)
    assert ours.rows("quarantine") == []
    assert ours.rows("ipfs_log_entry", "record_id") == [(waits.record_id,)]


def test_what_comes_is_judged_by_the_strictness_of_this_lake_and_by_its_own_nodes(new_lake, tmp_path):
    theirs, strict = new_lake("theirs"), new_lake("strict", strict=True)
    long = list(synthetic(1, 4, "0.12"))
    # The last character of an id spells 4 bits beside the hash: only one of 16 spellings is canonical.
    odd = long[1][:-1] + (b"B" if long[1][-1:] != b"B" else b"C")
    x = node_of("X")
    shown = journal_of(x, [[0, k] for k in range(3)])
    theirs.ingest(
        write_files(tmp_path / "in", {"odd.journal": render([long[0], odd]), "x.journal": render(shown)})
    )
    own = own_run([own_node(x)])
    report = strict.bring(theirs, options={"sdmp": own})
    assert (report.exit, report.members["stopped"]) == (1, {x: ["OWN_JOURNAL_BEHIND"]})
    assert report.reasons == {"NON_CANONICAL_ID": 1, "OWN_LINE_NOT_HELD": 3}
    assert report.counts["missing"] == 6
    assert {row[0] for row in strict.rows("quarantine", "namespace")} == {
        f"node:{x}", f"node:{long[0].decode()}",
    }  # fmt: skip
    assert report.members["examples"]["NON_CANONICAL_ID"]
    [source] = {row[0] for row in strict.rows("quarantine", "source")}
    assert source == str(theirs.path)


def test_only_missing_rows_and_the_lines_before_them_are_checked_against_their_contract(
    new_lake, tmp_path, monkeypatch
):
    theirs, ours = new_lake("theirs"), new_lake("ours")
    known = {f"{number}.journal": render(synthetic(number, 9)) for number in range(3)}
    source = write_files(tmp_path / "known", known)
    theirs.ingest(source)
    ours.ingest(source)
    theirs.ingest(write_files(tmp_path / "news", {"0.journal": render(synthetic(0, 11))}))
    checked, marked = [], OtherLake.marked

    def counted(self, table, rows):
        # Of rows that are not kept, Spark would evaluate the rules before it chooses them.
        checked.append((table, rows.count(), rows.is_cached))
        return marked(self, table, rows)

    monkeypatch.setattr(OtherLake, "marked", counted)
    report = ours.bring(theirs)
    assert (report.counts["missing"], report.counts["new"], report.counts["since_mismatch"]) == (2, 2, 0)
    assert checked == [("node_journal_line", 2, True), ("node_journal_line", 1, True)]
    assert held(ours, ["node_journal_line"]) == held(theirs, ["node_journal_line"])


def test_keys_of_another_lake_go_to_every_worker_only_if_they_have_few_bytes(spark):
    names = ["log:a", "log:" + "b" * 4_000]
    keys = spark.createDataFrame([(name, bytes(32)) for name in names], "namespace STRING, record_id BINARY")
    [size] = keys.agg(differences.key_bytes()).collect()[0]
    assert size == sum(len(name) + 192 for name in names)
    assert keys.limit(0).agg(differences.key_bytes()).collect()[0][0] == 0
    most = differences.FEW_KEYS_BYTES
    for bytes_of_keys, is_hinted in ((most, True), (most + 1, False)):
        found = differences.matching(keys, keys.distinct(), bytes_of_keys)
        plan = found._jdf.queryExecution().optimizedPlan().toString()
        assert ("strategy=broadcast" in plan) == is_hinted
        assert sorted(row["namespace"] for row in found.collect()) == sorted(names)


def test_one_lake_on_both_sides_and_a_lake_that_is_none_are_refused_and_nothing_is_made(new_lake, tmp_path):
    lake = new_lake()
    (tmp_path / "link").symlink_to(lake.path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").write_text("of others")
    absent = Lake(lake.spark, lake.settings, tmp_path / "absent")
    for other, code in (("lake", "SYNC_SAME_LAKE"), ("link", "SYNC_SAME_LAKE"), ("absent", "LAKE_NOT_FOUND"),
                        ("other", "LAKE_FOREIGN")):  # fmt: skip
        with pytest.raises(UsageError) as refused:
            lake.bring(Lake(lake.spark, lake.settings, tmp_path / other))
        assert refused.value.code == code
    assert absent.bring(lake, dry_run=True).counts["missing"] == 0
    assert not (tmp_path / "absent").exists()
