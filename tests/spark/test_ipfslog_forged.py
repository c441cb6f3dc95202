"""Twenty forgeries for each good entry: the good ones are in, the others in quarantine, and nothing is judged twice."""

import base64
import json

import pytest

from strandline.dialects.ipfslog.author import sign_entry
from strandline.dialects.ipfslog.codec import canonical_cid, dag_cbor, parse_dag_cbor
from strandline.dialects.ipfslog.types import record_id
from support.ipfslog_cases import entry, who
from support.lakes import write_files

GOOD, FORGERIES = 1_000, 10
"""Good entries; of each so many cut signatures, and as many that mallory signed under alice's identity."""


def block_line(block):
    """A raw block with its own address, as a line."""
    cid = canonical_cid(record_id(block), "v2")
    return json.dumps({"cid": cid, "data": base64.b64encode(block).decode()}).encode()


def changed(block, **members):
    return dag_cbor(parse_dag_cbor(block).value | members)


def forgeries(good, number):
    """Copies of an entry with its signature cut, and entries that mallory signed and that show alice's identity."""
    alice = parse_dag_cbor(good.block).value["identity"]
    for place in range(1, FORGERIES + 1):
        yield changed(good.block, sig=good.sig[: -2 * place])
        made = sign_entry(who("mallory"), good.log_id, [number, place], time=good.clock_time)
        yield changed(made.block, identity=alice)


@pytest.mark.slow
def test_good_entries_are_found_among_twenty_times_as_many_forged_ones_and_a_second_run_verifies_nothing(
    new_lake, tmp_path
):
    lake = new_lake(dialect="ipfslog")
    good = [entry(number, log_id=f"forged {number % 7}", time=number + 1) for number in range(GOOD)]
    blocks = [each for number, one in enumerate(good) for each in (one.block, *forgeries(one, number))]
    folder = write_files(tmp_path / "in", {"all.jsonl": b"\n".join(map(block_line, blocks))})
    report = lake.ingest(folder)
    forged = 2 * FORGERIES * GOOD
    assert {name: report.counts[name] for name in ("read", "new", "rejected")} == {
        "read": GOOD + forged, "new": GOOD, "rejected": forged,
    }  # fmt: skip
    assert report.reasons == {"SIGNATURE_MALFORMED": forged // 2, "KEY_IDENTITY_MISMATCH": forged // 2}
    held = lake.rows("ipfs_log_entry", "record_id")
    assert sorted(held) == sorted((each.record_id,) for each in good)
    assert len(lake.rows("quarantine", "quarantine_id")) == forged
    again = lake.ingest(folder)
    assert {name: again.counts[name] for name in ("new", "known", "rejected", "signatures_verified")} == {
        "new": 0, "known": GOOD, "rejected": forged, "signatures_verified": 0,
    }  # fmt: skip
    assert len(lake.rows("quarantine", "quarantine_id")) == forged
