"""The published journals and the evidence vectors, from files to tables."""

import hashlib

from strandline.dialects.sdmp.author import append, synthetic, synthetic_id
from strandline.dialects.sdmp.codec import batch, render
from support.lakes import counted, write_files
from support.sdmp_cases import lines as line_of

FATES = ("read", "new", "known", "rejected", "deferred", "readmitted")
WRONG = "08dcde77e36f7206e31ce839449ccb07c46ab7c65328670051dc142c3f0c76d4"
RIGHT = "7f6b5d882777fa3620c2a0c86c31537b30cbfaa55f09fb948c9ed491e0968fce"
PRINTED_STATE = "435c095f99c0ec1e93cb73a2037e19f53d8cfc5eb45a2ec99890ae28689ce694"
CORRECTED_STATE = "211f3ccc4f04fe7dacd83f95757126354e6848bbfca7e34fb5e64c72649b9a76"
LATE_STATE = "e1bd9603d1bc982438dfde0b272aa3a7eb3c3a081745de09dbe351cc9336e797"
FORK_STATE = "b4402e07ecd0589b1a62847d56f4dc1cd4efa84e9ac806cbdac004ccb6434a6b"
FORK_EVIDENCE = "299ea6f6a8c2eca27b780cb0974196e81ccee5b0b1a322623093f3fa4801438c"


def states(lake):
    return {name: digest.hex() for name, digest in lake.rows("namespace_state", "namespace", "state_hash")}


def test_the_published_example_its_correction_and_a_fork_give_the_published_states(new_lake, tmp_path):
    lake = new_lake()
    lines = [f"published 0.9 line {n}" for n in (1, 2)]
    printed = render(line_of([*lines, "published 0.9 line 3 as printed"]))
    assert (
        hashlib.sha256(printed).hexdigest()
        == "2f0733f5a0f2c26a0e9add85a0a18a57e79922ee437548c5e0f217007197ae9b"
    )
    late = render(line_of([f"published 0.12 line {n}" for n in (1, 2, 3, 4)]))
    journal = list(synthetic(0, 5))
    pair = (synthetic_id("author", 0), synthetic_id("resource", 999))
    sibling = next(append(journal[2], [pair]))
    node = journal[0].decode()
    fork = batch(node, journal[2].partition(b"@")[0].decode(), [sibling])
    first = {"a.journal": printed, "b.journal": late, "c.journal": render(journal), "d.jsonl": fork + b"\n"}
    report = lake.ingest(write_files(tmp_path / "first", first))
    assert counted(report, FATES) == dict(zip(FATES, (13, 12, 0, 1, 0, 0), strict=True))
    [row] = lake.rows("quarantine", "reasons", "evidence", "status")
    assert row[0] == ("LINE_NUMBER_MISMATCH",)
    assert f'"expected":"{RIGHT}"' in row[1]
    assert f'"actual":"{WRONG}"' in row[1]
    assert '"position":3' in row[1]
    lake.reduce()
    printed_node = "node:" + line_of(["published 0.9 line 1"])[0].decode()
    late_node = "node:" + line_of(["published 0.12 line 1"])[0].decode()
    assert states(lake) == {printed_node: PRINTED_STATE, late_node: LATE_STATE, f"node:{node}": FORK_STATE}
    [(evidence,)] = lake.rows("equivocation", "evidence")
    assert len(evidence) == 1376
    assert hashlib.sha256(evidence.encode()).hexdigest() == FORK_EVIDENCE

    corrected = render(line_of([*lines, "published 0.9 line 3 corrected"]))
    report = lake.ingest(write_files(tmp_path / "second", {"a.journal": corrected}))
    assert counted(report, FATES) == dict(zip(FATES, (3, 1, 2, 0, 0, 0), strict=True))
    lake.reduce()
    assert states(lake)[printed_node] == CORRECTED_STATE
    assert lake.reduce(full=True).outcome == "ok"
