"""Among many forgeries for each good entry the good ones are found, and nothing is judged twice."""

import base64
import json

import pytest

from strandline.dialect_api import known_verdicts
from strandline.dialects.ipfslog.author import sign_entry
from strandline.dialects.ipfslog.codec import canonical_cid, dag_cbor, parse_dag_cbor
from strandline.dialects.ipfslog.types import record_id
from strandline.pipelines import quarantine_writer
from support.broken_kernels import broken_kernel
from support.ipfslog_cases import entry, who

OF_A_FAULT = ("status", "reasons", "waits_for", "raw")
GOOD = 1_000
FILES = 20


def block_line(block):
    """A raw block with its own address, as a line."""
    cid = canonical_cid(record_id(block), "v2")
    return json.dumps({"cid": cid, "data": base64.b64encode(block).decode()}).encode()


def changed(block, **members):
    return dag_cbor(parse_dag_cbor(block).value | members)


def forgeries(good, number, count):
    """As many entries with a cut signature as ones that mallory signed and that show alice's identity."""
    alice = parse_dag_cbor(good.block).value["identity"]
    for place in range(1, count + 1):
        yield changed(good.block, payload=place, sig=good.sig[: -2 * (1 + place % 30)])
        made = sign_entry(who("mallory"), good.log_id, [number, place], time=good.clock_time)
        yield changed(made.block, identity=alice)


def test_what_older_rules_rejected_is_judged_again_by_current_rules_and_nothing_else_is(
    new_lake, monkeypatch, tmp_path
):
    lake, good = new_lake(dialect="ipfslog"), [entry(number, time=number + 1) for number in range(3)]
    blocks = [block for number, one in enumerate(good) for block in (one.block, *forgeries(one, number, 2))]
    (tmp_path / "in.jsonl").write_bytes(b"\n".join(map(block_line, blocks)) + b"\n")
    met = good[2].block
    # In the first run an internal fault meets one entry.
    judgement = "strandline.dialects.ipfslog.kernels.judgement"
    with broken_kernel(judgement, "facts_of", lambda checked: checked.block == met):
        runs = [lake.ingest(tmp_path / "in.jsonl")]
    assert (runs[0].outcome, runs[0].exit, runs[0].counts["deferred"]) == ("fault", 3, 1)
    [waits] = [row[1:] for row in lake.rows("quarantine", *OF_A_FAULT) if row[0] == "deferred"]
    assert waits == (("INTERNAL_ERROR",), ("rules:2",), met)
    # The fault is corrected; then the rules change.
    runs.append(lake.ingest(tmp_path / "in.jsonl"))
    for module in (known_verdicts, quarantine_writer):
        monkeypatch.setattr(module, "rules_version", lambda: 2)
    runs.append(lake.ingest(tmp_path / "in.jsonl"))
    assert [report.counts["signatures_verified"] for report in runs] == [2 + 12, 1, 12]
    assert [report.counts["new"] for report in runs] == [2, 1, 0]
    assert {report.counts["rejected"] for report in runs} == {12}
    # Only the row of the fault was judged by older rules.
    assert [report.members.get("judged_by_older_rules") for report in runs] == [None, None, 1]
    seen = lake.rows("quarantine", "status", "rules_version", "times_seen")
    assert seen == [("deferred", 1, 1), *[("rejected", 2, 3)] * 12]


@pytest.mark.slow
@pytest.mark.parametrize("count", [10, 500], ids="{} of each kind for each good one".format)
def test_good_entries_are_found_among_forged_ones_and_a_second_run_verifies_nothing(
    new_lake, tmp_path, count
):
    lake, forged = new_lake(dialect="ipfslog"), 2 * count * GOOD
    good = [entry(number, log_id=f"forged {number % 7}", time=number + 1) for number in range(GOOD)]
    folder = tmp_path / "in"
    folder.mkdir()
    for share in range(FILES):
        with (folder / f"{share}.jsonl").open("wb") as file:
            for number, one in list(enumerate(good))[share::FILES]:
                blocks = (one.block, *forgeries(one, number, count))
                file.writelines(block_line(block) + b"\n" for block in blocks)
    report = lake.ingest(folder)
    assert {name: report.counts[name] for name in ("read", "new", "rejected")} == {
        "read": GOOD + forged, "new": GOOD, "rejected": forged,
    }  # fmt: skip
    assert report.reasons == {"SIGNATURE_MALFORMED": forged // 2, "KEY_IDENTITY_MISMATCH": forged // 2}
    held = lake.rows("ipfs_log_entry", "record_id")
    assert sorted(held) == sorted((each.record_id,) for each in good)
    assert lake.store().read("quarantine").count() == forged
    again = lake.ingest(folder)
    assert {name: again.counts[name] for name in ("new", "known", "rejected", "signatures_verified")} == {
        "new": 0, "known": GOOD, "rejected": forged, "signatures_verified": 0,
    }  # fmt: skip
    assert lake.store().read("quarantine").count() == forged
