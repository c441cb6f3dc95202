"""Input from an S3 server on loopback, through the installed program: the same rows as from a folder."""

import json
from dataclasses import asdict

from strandline.dialects.sdmp.spark.dialect import SDMP
from strandline.tables.manifests import write_manifest
from support.lakes import write_files
from support.random_journals import corpus
from support.reference import outcome_of
from support.s3 import BUCKET, KEY_ID, SECRET, store

[FILES] = corpus(seed=6, journals=12, runs=1)
DUMP = f"s3://{BUCKET}/dump"
# Every plain file is split that can be.
SMALL = ("--set", "read.lines_min_bytes=1", "--set", "read.split_bytes=200", "--set", "tables.buckets=4")


def test_objects_of_a_store_are_landed_whole_or_split(program, tmp_path):
    printed = []
    with store() as served:
        for name, content in FILES.items():
            served.put(f"dump/{name}", content)
        served.put("dump/cut.journal.gz", b"\x1f\x8b\x08\x00")
        file = write_files(tmp_path / "stated", FILES) / "0003-1.journal"
        stated = write_manifest([file], dialect="sdmp", records_in=SDMP.count_records)
        served.put(f"dump/{stated.name}", stated.read_bytes())

        def answer(*words: str) -> dict:
            done = program.run(*words, "--json", cwd=tmp_path, **served.environment)
            printed.append(done.stdout + done.stderr)
            assert done.returncode == 0, printed[-1]
            return json.loads(done.stdout)

        counts, states = outcome_of(FILES)
        first = answer("ingest", DUMP, "--dialect", "sdmp", *SMALL)["counts"]
        # The cut object is one more rejected record.
        whole = asdict(counts)
        more = {name: first[name] - whole[name] for name in ("read", "rejected", "new")}
        assert more == {"read": 1, "rejected": 1, "new": 0}
        assert (first["complete"], first["damaged"]) == (1, 0)
        again = answer("ingest", f"s3a://{BUCKET}/**/*", "--dialect", "sdmp")["counts"]
        assert (again["read"], again["new"], again["known"]) == (
            first["read"],
            0,
            first["new"] + first["known"],
        )
    assert answer("reduce")["namespaces"] == len(states)
    told = answer("status")
    assert {row["namespace"]: row["state_hash"] for row in told["rows"] if row["state_hash"]} == states
    assert f"{DUMP}/cut.journal.gz" in [each["source"] for each in told["damaged_files"]]
    assert KEY_ID not in "".join(printed)
    assert SECRET not in "".join(printed)
