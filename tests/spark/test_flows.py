"""Options of ingest on one lake: replay, retention, the limit of waiting records."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from strandline.dialects.sdmp.author import synthetic
from strandline.dialects.sdmp.codec import batch, render
from strandline.pipelines.run_context import NoProgress
from support.lakes import Lake, write_files


class Seen(NoProgress):
    """Keeps the stages that a user is shown."""

    def __init__(self) -> None:
        self.stages = []

    def stage(self, name, count=None) -> None:
        self.stages.append((name, count))


def test_rejected_records_are_judged_again_and_old_ones_dropped(new_lake, tmp_path):
    lake = new_lake(limits={"deferred_per_namespace": 2})
    lines, others = list(synthetic(3, 8)), list(synthetic(4, 6))
    node = lines[0].decode()
    files = {
        "a.jsonl": batch(node, lines[3].partition(b"@")[0].decode(), lines[4:]) + b"\n",
        "b.jsonl": b'{"a":1,"a":2}\n',
        "c.journal": b"no journal\n",
        "d.journal": render([*others[:3], *others[4:]]),
    }
    progress = Seen()
    of_lake, lake.context = lake.context, lambda *told: replace(Lake.context(*told), progress=progress)
    report = lake.ingest(write_files(tmp_path / "in", files), fail_on_reject=True)
    lake.context = of_lake
    assert [name for name, _ in progress.stages] == [
        "reading and verifying", "writing new records to node_journal_line",
        "writing rejected and waiting records to quarantine", "writing the report to run",
    ]  # fmt: skip
    # What is counted is pieces of input, before it is known how many records they are.
    assert progress.stages[0][1]() >= len(files)
    assert report.exit == 1
    assert report.reasons == {
        "DEFERRED_LIMIT": 2,
        "FIRST_LINE_MALFORMED": 1,
        "JSON_INVALID": 1,
        "LINE_NUMBER_MISMATCH": 1,
        "PREDECESSOR_UNKNOWN": 3,
    }
    lake.ingest(write_files(tmp_path / "more", {"a.journal": render(lines[:4])}))
    stay = [row for row in lake.rows("quarantine") if f"node:{node}" not in row]
    of_others = lake.ingest(from_quarantine=True, namespace=others[0].decode()[:9])
    assert (of_others.counts["read"], of_others.counts["rejected"]) == (1, 1)
    replayed = lake.ingest(from_quarantine=True)
    assert (replayed.counts["read"], replayed.counts["rejected"]) == (5, 3)
    assert replayed.counts["new"] + replayed.counts["deferred"] + replayed.counts["known"] == 2
    assert lake.rows("quarantine") == stay
    held = lake.rows("node_journal_line", "namespace")
    assert held.count((f"node:{node}",)) == 8
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    assert lake.ingest(drop_rejected_before=tomorrow).counts["dropped"] == 3
    assert lake.rows("quarantine", "status") == [("deferred",)]
