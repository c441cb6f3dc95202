"""Options of ingest on one lake: replay, retention, the limit of waiting records."""

import gzip
import json
import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from deltalake import DeltaTable
from pyspark.sql import functions as F

from strandline.core.errors import FaultError, UsageError
from strandline.dialects.devicelog import kernels as device_kernels
from strandline.dialects.devicelog.info import SSB_HMAC_KEY, SSB_PROFILE
from strandline.dialects.sdmp.author import synthetic
from strandline.dialects.sdmp.codec import batch, render
from strandline.dialects.sdmp.info import STRICT
from strandline.dialects.sdmp.spark import few_segments
from strandline.dialects.sdmp.spark.replay import replayed_elements
from strandline.frames import blocks
from strandline.frames.provenance import batch_sources
from strandline.kernels.containers import StreamLimits
from strandline.kernels.lines import RawLimits
from strandline.kernels.reading import ReadOptions
from strandline.pipelines import quarantine_writer
from strandline.pipelines.admission import Admitter
from strandline.pipelines.report import TableChange
from strandline.pipelines.run_context import NoProgress
from strandline.pipelines.unreduced import Unreduced, unreduced
from strandline.tables import small_tables
from strandline.tables.commits import session_settings
from strandline.tables.delta_rs import open_delta_rs
from strandline.tables.read_lake import SparkLake
from strandline.tables.recorded_versions import recreated_since
from strandline.tables.store import TableStore
from support.aura_cases import second_context
from support.aura_corpus import line
from support.broken_kernels import SECRET, broken_kernel
from support.commits import AUTO_COMPACT, assert_commits_name_their_run
from support.forged_lakes import older
from support.kills import KilledError, killed_at
from support.lakes import Lake, write_files
from support.provenance import delivered


class Seen(NoProgress):
    """Keeps the stages that a user is shown."""

    def __init__(self) -> None:
        self.stages = []

    def stage(self, name, count=None) -> None:
        self.stages.append((name, count))


VERDICT = ("namespace", "status", "reasons", "raw", "waits_for", "evidence")
OF_A_FAULT = ("status", "reasons", "waits_for", "raw", "evidence")
PROVENANCE = ("first_run", "last_run", "times_seen", "source_offset")


def sightings(lake) -> dict[tuple[str, ...], tuple]:
    """When and where the rows of quarantine were seen, by their reasons; one of several stands for them."""
    rows = lake.store().read("quarantine").select("reasons", *PROVENANCE, "first_seen", "last_seen").collect()
    return {tuple(row["reasons"]): tuple(row[1:]) for row in rows}


def test_rejected_records_are_judged_again_and_old_ones_dropped(new_lake, monkeypatch, tmp_path):
    lines, others, cut = list(synthetic(3, 8)), list(synthetic(4, 6)), list(synthetic(5, 6))
    late, whole = list(synthetic(6, 2)), 1_024
    met = batch(late[0].decode(), late[0].decode(), late[1:])
    kept = {"quarantine_raw_bytes": whole, "quarantine_raw_head": whole}
    lake = new_lake(limits={"deferred_per_namespace": 2, **kept})
    node = lines[0].decode()
    files = {
        "a.jsonl": batch(node, lines[3].partition(b"@")[0].decode(), lines[4:]) + b"\n",
        "b.jsonl": b'{"a":1,"a":2}\n',
        "c.journal": b"no journal\n",
        "d.journal": render([*others[:3], *others[4:]]),
        "e.journal": render([*cut[:3], cut[3] + b"/" * whole]),
        "f.jsonl": met,
    }
    progress = Seen()
    of_lake, lake.context = lake.context, lambda *told: replace(Lake.context(*told), progress=progress)
    with broken_kernel("strandline.dialects.sdmp.codec", "parse_frame", lambda raw: raw == met):
        report = lake.ingest(write_files(tmp_path / "in", files), fail_on_reject=True)
    lake.context = of_lake
    assert [name for name, _ in progress.stages] == [
        "reading and verifying", "writing new records to node_journal_line",
        "writing rejected and waiting records to quarantine", "writing the report to run",
    ]  # fmt: skip
    # What is counted is pieces of input, before it is known how many records they are.
    assert progress.stages[0][1]() >= len(files)
    # A record was rejected, and one met a fault of ours: the greater exit code counts.
    assert (report.outcome, report.exit) == ("fault", 3)
    assert report.error is not None
    assert report.error.code == "INTERNAL_ERROR"
    assert report.reasons == {
        "DEFERRED_LIMIT": 2,
        "FIRST_LINE_MALFORMED": 1,
        "INTERNAL_ERROR": 1,
        "JSON_INVALID": 1,
        "LINE_NUMBER_MISMATCH": 1,
        "MALFORMED_LINE": 1,
        "PREDECESSOR_UNKNOWN": 3,
    }
    [row] = lake.store().read("quarantine").where("NOT raw_whole").select("raw").collect()
    assert bytes(row["raw"]) == (cut[3] + b"/" * whole)[:whole]
    for first_run, last_run, times, _, first_seen, last_seen in sightings(lake).values():
        assert (first_run, last_run, times, first_seen) == (report.run_id, report.run_id, 1, last_seen)
    assert sightings(lake)["LINE_NUMBER_MISMATCH",][3] == len(render(others[:3])) + 1
    assert sightings(lake)["MALFORMED_LINE",][3] == len(render(cut[:3])) + 1
    [waits] = [row for row in lake.rows("quarantine", *OF_A_FAULT) if row[1] == ("INTERNAL_ERROR",)]
    assert waits[:4] == ("deferred", ("INTERNAL_ERROR",), ("rules:2",), met)
    assert json.loads(waits[4])["INTERNAL_ERROR"]["class"] == "ZeroDivisionError"
    assert SECRET not in waits[4]
    too_early = lake.ingest(from_quarantine=True, reason="INTERNAL_ERROR")
    assert (too_early.counts["read"], too_early.members["replayed"]) == (0, {})
    # From here on the rules are others, and the bug is mended.
    monkeypatch.setattr(quarantine_writer, "rules_version", lambda: 2)
    first, twice = list(synthetic(15, 4)), list(synthetic(16, 6))
    later = {
        "a.journal": render(lines[:4]), "b.journal.gz": gzip.compress(render(first)), "c.journal": render(twice[:4]),
        "d.journal": render(twice), "e.jsonl": batch(twice[0].decode(), twice[0].decode(), twice[1:]) + b"\n",
    }  # fmt: skip
    more = lake.ingest(write_files(tmp_path / "more", later))
    assert more.members["judged_by_older_rules"] == 6
    stay = [row for row in lake.rows("quarantine", *VERDICT) if row[0] != f"node:{node}" and met not in row]
    of_others = lake.ingest(from_quarantine=True, namespace=others[0].decode()[:9])
    assert (of_others.counts["read"], of_others.counts["rejected"]) == (1, 1)
    version = lake.store().version("quarantine")
    replayed = lake.ingest(from_quarantine=True)
    # What was rejected again stays and what was let in goes, in one commit.
    assert replayed.tables["quarantine"] == TableChange(version + 1, 0)
    assert (replayed.counts["read"], replayed.counts["rejected"]) == (5 + 1, 3)
    assert replayed.counts["new"] + replayed.counts["deferred"] + replayed.counts["known"] == 2 + 1
    assert replayed.members["replayed"]["INTERNAL_ERROR"] == {"rows": 1, "unchanged": 0}
    assert lake.rows("quarantine", *VERDICT) == stay
    held = lake.rows("node_journal_line", "namespace")
    assert held.count((f"node:{late[0].decode()}",)) == 2
    assert held.count((f"node:{node}",)) == 8
    # What was cut was not judged again as if it were whole.
    assert held.count((f"node:{cut[0].decode()}",)) == 3
    again = {("FIRST_LINE_MALFORMED",): 2, ("JSON_INVALID",): 2, ("LINE_NUMBER_MISMATCH",): 3}
    for reasons, (first_run, last_run, times, _, first_seen, last_seen) in sightings(lake).items():
        assert (first_run, times) == (report.run_id, again.get(reasons, 1))
        assert (last_run == replayed.run_id) == (last_seen > first_seen) == (reasons in again)
    # Records that waited or were judged again keep the file that delivered them.
    brought: dict[str, list[str | None]] = {}
    for name, _, source, _ in delivered(lake, "node_journal_line", "namespace", "n"):
        brought.setdefault(name, []).append(source)
    before, after = str(tmp_path / "in"), str(tmp_path / "more")
    wanted = {
        lines[0]: [f"{after}/a.journal"] * 4 + [f"{before}/a.jsonl"] * 4,
        others[0]: [f"{before}/d.journal"] * 3,
        first[0]: [f"{after}/b.journal.gz"] * 4,
        twice[0]: [f"{after}/c.journal"] * 4 + [f"{after}/d.journal"] * 2,
    }
    assert {name: brought[f"node:{name.decode()}"] for name in wanted} == wanted
    yesterday, tomorrow = (datetime.now(UTC) + timedelta(days=days) for days in (-1, 1))
    assert lake.ingest(drop_rejected_before=yesterday).counts["dropped"] == 0
    assert lake.rows("quarantine", *VERDICT) == stay
    delete = TableStore.delete

    def seen_again(*words, **more):
        # Another run sees one of them, after it was found to be old.
        monkeypatch.setattr(TableStore, "delete", delete)
        assert lake.ingest(tmp_path / "in" / "b.jsonl", clock=timedelta(hours=2)).counts["rejected"] == 1
        return delete(*words, **more)

    monkeypatch.setattr(TableStore, "delete", seen_again)
    assert lake.ingest(drop_rejected_before=datetime.now(UTC) + timedelta(hours=1)).counts["dropped"] == 3
    assert lake.rows("quarantine", "status", "reasons")[1:] == [("rejected", ("JSON_INVALID",))]
    assert lake.ingest(drop_rejected_before=tomorrow).counts["dropped"] == 1
    assert lake.rows("quarantine", "status") == [("deferred",)]
    lake.reduce()
    assert_commits_name_their_run(lake)


def test_a_lake_of_an_older_contract_is_read_refused_and_given_the_columns_that_it_lacks(new_lake, tmp_path):
    lake, ours, lines = new_lake("older"), new_lake("ours"), list(synthetic(7, 6))
    lake.ingest(write_files(tmp_path / "first", {"a.journal": render(lines[:4])}))
    older(lake.path, "node_journal_line", ["source", "landed_at"])
    assert ours.bring(lake).counts["new"] == 4
    assert {source for source, _ in delivered(ours, "node_journal_line")} == {str(lake.path)}
    more = write_files(tmp_path / "more", {"b.journal": render(lines)})
    with pytest.raises(UsageError) as refused:
        lake.ingest(more)
    assert refused.value.code == "CONTRACT_OLDER"
    assert f"`strandline init --lake {lake.path}`" in refused.value.next
    assert lake.init().members["migrated"] == ["node_journal_line"]
    assert lake.init().members["migrated"] == []
    assert lake.ingest(more).counts["new"] == 2
    by_position = [(n, None) for n in range(1, 5)] + [(n, f"{more}/b.journal") for n in (5, 6)]
    assert lake.rows("node_journal_line", "n", "source") == by_position


def test_a_table_that_was_dropped_or_restored_costs_its_rows_and_the_next_reduction(new_lake, tmp_path):
    lake, lines = new_lake(), [list(synthetic(seed, 6)) for seed in (11, 12)]
    one, both = (
        write_files(tmp_path / name, {f"{seed}.journal": render(each) for seed, each in enumerate(journals)})
        for name, journals in (("one", [lines[0][:4]]), ("both", lines))
    )
    lake.ingest(one)
    first, node = lake.reduce().run_id, f"node:{lines[0][0].decode()}"
    lake.ingest(both)
    lake.reduce()
    reduced = lake.rows("node_journal")

    def left() -> list[tuple]:
        done = lake.reduce()
        assert (done.exit, lake.reduce(full=True).members["differences"]) == (0, {})
        return lake.rows("namespace_state", "record_count", "reduced_version")

    # Somebody blanks a column: that is no news, and `status` asks for no reduction any more.
    lake.damage("ALTER TABLE node_journal_line SET TBLPROPERTIES (delta.appendOnly = false)")
    lake.damage("UPDATE node_journal_line SET source = NULL")
    assert left() == [(6, 2), (6, 4)]
    # The reduced table is gone: what the records say is reduced again, and only once.
    shutil.rmtree(lake.path / "node_journal")
    lake.init()
    assert left() == [(6, 4), (6, 4)]
    assert lake.rows("node_journal") == reduced
    # The records are gone, and none comes: nothing is left of what they were reduced to.
    shutil.rmtree(lake.path / "node_journal_line")
    lake.init()
    unreduced_lines = {"sdmp": "node_journal_line"}
    location = lake.store().location
    assert unreduced(open_delta_rs(location), unreduced_lines) == (Unreduced("node_journal_line", 0, 0),)
    assert left() == lake.rows("node_journal") == []
    assert unreduced(open_delta_rs(location), unreduced_lines) == ()
    lake.ingest(both)
    assert left() == [(6, 1), (6, 1)]
    # The records are gone, and come again in part: versions begin anew, and no state says more than they do.
    shutil.rmtree(lake.path / "node_journal_line")
    lake.init()
    lake.ingest(one)
    assert left() == [(4, 1)]
    # The versions of an earlier run are those of the table that is gone; a run that came since names its own.
    with pytest.raises(UsageError) as gone:
        lake.export(tmp_path / "first.journal", node, as_of=first)
    assert (gone.value.code, "node_journal_line is not" in gone.value.message) == ("TABLE_RECREATED", True)
    for each in (open_delta_rs(location), SparkLake(lake.store())):
        assert recreated_since(each, first)[1] == {"node_journal", "node_journal_line"}
    lake.export(tmp_path / "now.journal", node, as_of=lake.reduce().run_id)
    assert [each.name for each in tmp_path.glob("*.journal")] == ["now.journal"]
    assert (tmp_path / "now.journal").read_bytes() == render(lines[0][:4])
    lake.ingest(both)
    # Somebody lets the reduced table only grow: that is told by its name, and done when it may change.
    append_only = "ALTER TABLE node_journal SET TBLPROPERTIES (delta.appendOnly = {})"
    lake.damage(append_only, "true")
    with pytest.raises(FaultError) as refused:
        lake.reduce()
    assert (refused.value.code, "table node_journal " in refused.value.message) == ("TABLE_APPEND_ONLY", True)
    lake.damage(append_only, "false")
    assert left() == [(6, 2), (6, 2)]
    # The version before the first record: nothing is left of what they were reduced to.
    lake.damage("RESTORE TABLE node_journal_line TO VERSION AS OF 0")
    assert left() == lake.rows("node_journal") == []
    assert unreduced(open_delta_rs(lake.store().location), {"sdmp": "node_journal_line"}) == ()
    lake.ingest(both)
    left()
    assert lake.rows("node_journal") == reduced
    # All records are gone, and some come again before they are reduced.
    lake.damage("ALTER TABLE node_journal_line SET TBLPROPERTIES (delta.appendOnly = false)")
    lake.damage("TRUNCATE TABLE node_journal_line")
    lake.ingest(one)
    assert [count for count, _ in left()] == [4]
    # Somebody takes a change back: everything is reduced once, though no state changes.
    version = lake.versions()["node_journal_line"]
    lake.damage("UPDATE node_journal_line SET source = NULL")
    lake.damage(f"RESTORE TABLE node_journal_line TO VERSION AS OF {version}")
    assert [lake.reduce().counts["reduced"] for _ in range(2)] == [1, 0]
    # Somebody gives tables constraints: one that only Spark understands, and one that new rows break.
    lake.damage("ALTER TABLE run ADD CONSTRAINT counted CHECK (size(counts) >= 0)")
    lake.damage("ALTER TABLE node_journal_line ADD CONSTRAINT short CHECK (n < 7)")
    long = write_files(tmp_path / "long", {"7.journal": render(list(synthetic(7, 8)))})
    with pytest.raises(FaultError) as broken:
        lake.ingest(long)
    assert broken.value.code == "CONSTRAINT_BROKEN"
    assert "violates the CHECK constraint short of the table node_journal_line" in broken.value.message
    lake.damage("ALTER TABLE node_journal_line DROP CONSTRAINT short")
    assert lake.ingest(long).counts["new"] == 8
    # A context with only its genesis has a state and no other reduced row: it goes with its fact, too.
    contexts = Lake(lake.spark, lake.settings, lake.path, dialect="aura")
    genesis = {"genesis.jsonl": line(second_context()["g"]) + b"\n"}
    assert contexts.ingest(write_files(tmp_path / "genesis", genesis)).counts["new"] == 1
    lake.reduce()
    assert ("aura", 1) in lake.rows("namespace_state", "dialect", "record_count")
    lake.damage("TRUNCATE TABLE aura_fact")
    lake.reduce()
    assert {name for (name,) in lake.rows("namespace_state", "dialect")} == {"sdmp"}
    assert unreduced(open_delta_rs(lake.store().location), {"aura": "aura_fact"}) == ()


def test_lines_that_wait_for_those_of_a_run_at_the_same_time_are_admitted_by_the_next(
    new_lake, tmp_path, monkeypatch
):
    lake, merge = new_lake(), Admitter.merge
    for number, (is_beginning_inside, is_few) in enumerate(((True, True), (False, True), (False, False))):
        lines = list(synthetic(40 + number, 20))
        parts = [{"rest.jsonl": after(lines, 10)}, {"beginning.journal": render(lines[:10])}]
        outside, inside = (
            write_files(tmp_path / f"{next(iter(files))} {number}", files)
            for files in (parts if is_beginning_inside else parts[::-1])
        )
        beside = {"a.journal": render(list(synthetic(50 + number, 3))), "b.jsonl": b'{"a":1,"a":2}\n'}
        another = write_files(tmp_path / f"another {number}", beside)
        reports = []

        def overtaken(admitter, admission, inside=inside, reports=reports):
            if not reports:
                reports.append(None)
                reports[0] = lake.ingest(inside)
            return merge(admitter, admission)

        monkeypatch.setattr(Admitter, "merge", overtaken)
        assert lake.ingest(outside).outcome == "ok"
        assert reports[0].outcome == "ok"
        seen = [("rejected",)] * bool(number)
        assert lake.rows("quarantine", "status") == [("deferred",)] * 10 + seen
        if not is_few:
            # As if `quarantine` were large.
            monkeypatch.setattr(small_tables, "MOST_BYTES", 0)
        version = lake.store().version("quarantine")
        later = lake.ingest(another)
        monkeypatch.undo()
        assert (later.counts["new"], later.counts["readmitted"]) == (3, 10)
        # What is rejected beside them is written in the commit that deletes them.
        assert later.tables["quarantine"] == TableChange(version + 1, int(not seen))
        assert lake.rows("quarantine", "status", "times_seen") == [("rejected", 1 + number)]
    # A run that judges all that waits, and lets in nothing, ends the repair, too.
    lines = list(synthetic(60, 20))
    lake.ingest(write_files(tmp_path / "waits", {"waits.jsonl": after(lines, 10)}))
    lake.store().mark_race("node_journal_line")
    assert lake.ingest(another).counts["new"] == 0
    assert not lake.store().begin_repair(("node_journal_line",))


def after(lines, count):
    """A frame of the lines of a journal behind the first `count`."""
    since = lines[count - 1].partition(b"@")[0].decode("ascii")
    return batch(lines[0].decode("ascii"), since, lines[count:]) + b"\n"


def test_lines_behind_those_that_a_restore_removed_wait_until_these_come_again(
    new_lake, tmp_path, monkeypatch
):
    lake = new_lake()
    for number, is_few in ((70, True), (71, False)):
        lines = list(synthetic(number, 21))
        if not is_few:
            monkeypatch.setattr(few_segments, "place", lambda *_, **__: None)

        def ingest(files, number=number):
            return lake.ingest(write_files(tmp_path / f"{number} {next(iter(files))}", files)).counts

        ingest({"first.journal": render(lines[:10])})
        lake.reduce()
        version = lake.versions()["node_journal_line"]
        ingest({"second.journal": render(lines[:20])})
        lake.reduce()
        lake.damage(f"RESTORE TABLE node_journal_line TO VERSION AS OF {version}")
        # The reduced journal still ends with line 20.
        last = ingest({"last.jsonl": after(lines, 20)})
        assert (last["new"], last["deferred"]) == (0, 1)
        lake.reduce()
        # Delta compacts the table right after the MERGE: counts are those of the MERGE.
        with session_settings(lake.spark, AUTO_COMPACT):
            whole = ingest({"whole.journal": render(lines)})
        assert DeltaTable(lake.path / "node_journal_line").history(1)[0]["operation"] == "OPTIMIZE"
        assert (whole["new"], whole["known"], whole["readmitted"]) == (10, 11, 1)
        lake.reduce()
        assert sorted(lake.rows("node_journal", "line_count"))[-1:] == [(21,)]
    assert len(lake.rows("node_journal_line")) == 42


def test_what_a_killed_first_reduction_left_stands_for_no_lines_that_a_restore_removed(new_lake, tmp_path):
    lake, (lines, gone) = new_lake(), (list(synthetic(number, 21)) for number in (72, 73))

    def ingest(name, content):
        return lake.ingest(write_files(tmp_path / name, {name: content})).counts

    ingest("first.journal", render(lines[:10]))
    version = lake.versions()["node_journal_line"]
    ingest("second.journal", render(lines[:20]))
    ingest("gone.journal", render(gone[:20]))
    with pytest.raises(KilledError):
        lake.reduce(faults=killed_at("reduce.before_state"))
    assert (lake.rows("node_journal", "line_count"), lake.rows("namespace_state")) == ([(20,), (20,)], [])
    lake.damage(f"RESTORE TABLE node_journal_line TO VERSION AS OF {version}")
    last = ingest("last.jsonl", after(lines, 20))
    assert (last["new"], last["deferred"]) == (0, 1)
    assert lake.reduce().counts["reduced"] == 1
    assert lake.rows("node_journal", "line_count") == [(10,)]
    assert lake.reduce().counts["reduced"] == 0
    last = ingest("gone.jsonl", after(gone, 20))
    assert (last["new"], last["deferred"]) == (0, 1)
    assert ingest("whole.journal", render(lines))["readmitted"] == 1


QUARANTINED = (
    "quarantine_id BINARY, namespace STRING, raw BINARY, raw_bytes BIGINT, record_id BINARY, reasons ARRAY<STRING>, "
    "evidence STRING"
)


def alike(count):
    """Ids of rows whose first 60 bits are equal, as a sender can make them."""
    return [bytes([7] * 7 + [0x70 + last] + [last] * 24) for last in range(count)]


def test_documents_judged_again_that_share_a_number_have_places_of_their_own(spark):
    rows = [
        (id_, None, b"no entry %d" % at, 10, None, ["JSON_INVALID"], "{}") for at, id_ in enumerate(alike(3))
    ]
    limits = (StreamLimits(2**36, 100), RawLimits(4 * 2**20, 2**16))
    options = ReadOptions({SSB_PROFILE: "strict", SSB_HMAC_KEY: ""}, *limits)
    again = blocks.replayed_documents(
        spark.createDataFrame(rows, QUARANTINED),
        device_kernels.replay,
        device_kernels.DOCUMENT_FIELDS,
        options,
    ).collect()
    assert len({row["file_no"] for row in again}) == 1
    assert len({tuple(row[name] for name in blocks.PLACE) for row in again}) == len(again) == 3


def test_lines_judged_again_that_share_a_number_are_no_lines_of_one_file(spark):
    lines = list(synthetic(4, 6))
    rows = [
        (id_, "node:" + lines[0].decode(), lines[at + 2], 10, None, ["LINE_NUMBER_MISMATCH"], "{}")
        for at, id_ in enumerate([*alike(3), bytes(32)])
    ]
    options = ReadOptions({STRICT: "weak"}, StreamLimits(2**36, 100), RawLimits(4 * 2**20, 2**16))
    again = replayed_elements(spark.createDataFrame(rows, QUARANTINED), options, ()).collect()
    assert {bytes(row["raw"]): row["damage"] for row in again} == {
        lines[2]: None, lines[3]: "LINE_NUMBER_MISMATCH", lines[4]: "LINE_NUMBER_MISMATCH", lines[5]: None,
    }  # fmt: skip
    assert len({(row["file_no"], row["part"], row["frame"]) for row in again}) == 4


def test_rows_that_share_a_number_stay_in_quarantine_as_they_are(new_lake, monkeypatch, tmp_path):
    lake, lines = new_lake(), list(synthetic(4, 9))
    wrong = {f"{at}.journal": render([*lines[:at], *lines[at + 1 : at + 3]]) for at in (3, 4, 5)}
    wrong |= {"a.jsonl": b'{"a":1,"a":2}\n', "b.jsonl": b'{"b":1,"b":2}\n', "c.journal": b"no journal\n"}
    lake.ingest(write_files(tmp_path / "in", wrong))
    stay = lake.rows("quarantine", *VERDICT)
    assert len(stay) == 6
    all_bits = blocks.id_bits
    monkeypatch.setattr(blocks, "id_bits", lambda start: F.lit(7) if start == 1 else all_bits(start))
    assert lake.ingest(from_quarantine=True).counts["read"] == 6
    assert lake.rows("quarantine", *VERDICT) == stay


def test_rows_judged_again_that_share_a_number_have_one_source(spark):
    ids = [bytes([7] * 8 + [last] * 24) for last in range(3)]
    replay = [(id_, f"/in/{at}", at) for at, id_ in enumerate(ids)]
    found = batch_sources(
        spark.createDataFrame([(0, "/in/a")], "file_no BIGINT, source STRING"),
        spark.createDataFrame(replay, "quarantine_id BINARY, source STRING, source_offset BIGINT"),
    ).collect()
    assert [tuple(row)[1:] for row in found] == [("/in/a", 0), ("/in/0", 0)]
