"""Among many forgeries for each good entry the good ones are found, and nothing is judged twice."""

import base64
import json

import pytest

from strandline.dialects.ipfslog.author import sign_entry
from strandline.dialects.ipfslog.codec import canonical_cid, dag_cbor, parse_dag_cbor
from strandline.dialects.ipfslog.types import record_id
from support.ipfslog_cases import entry, who

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
