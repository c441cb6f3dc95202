"""Options of ingest on one lake: replay, retention, limits, strictness."""

from datetime import UTC, datetime, timedelta

from strandline.dialects.sdmp.author import synthetic
from strandline.dialects.sdmp.codec import batch, render
from support.lakes import write_files


def test_rejected_records_are_judged_again_and_old_ones_dropped(new_lake, tmp_path):
    lake = new_lake(limits={"deferred_per_namespace": 2})
    lines = list(synthetic(3, 8))
    node = lines[0].decode()
    orphans = batch(node, lines[3].partition(b"@")[0].decode(), lines[4:]) + b"\n"
    broken = render([*synthetic(4, 3), *list(synthetic(4, 6))[4:]])
    files = {
        "a.jsonl": orphans, "b.jsonl": b'{"a":1,"a":2}\n', "c.journal": b"no journal\n", "d.journal": broken,
    }  # fmt: skip
    report = lake.ingest(write_files(tmp_path / "in", files), fail_on_reject=True)
    assert report.exit == 1
    assert report.reasons == {
        "DEFERRED_LIMIT": 2, "FIRST_LINE_MALFORMED": 1, "JSON_INVALID": 1, "LINE_NUMBER_MISMATCH": 1,
        "PREDECESSOR_UNKNOWN": 3,
    }  # fmt: skip
    lake.ingest(write_files(tmp_path / "more", {"a.journal": render(lines[:4])}))
    replayed = lake.ingest(from_quarantine=True)
    assert (replayed.counts["read"], replayed.counts["rejected"]) == (4, 2)
    assert replayed.counts["new"] + replayed.counts["deferred"] + replayed.counts["known"] == 2
    assert {row[0] for row in lake.rows("quarantine", "reasons")} == {
        ("FIRST_LINE_MALFORMED",),
        ("JSON_INVALID",),
    }
    assert len(lake.rows("node_journal_line")) == 8
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    assert lake.ingest(drop_rejected_before=tomorrow).counts["dropped"] == 3
    assert lake.rows("quarantine", "status") == [("deferred",)]
