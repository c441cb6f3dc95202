"""Input from stores through the installed program: the same rows as from a folder."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from subprocess import CompletedProcess

from strandline.dialects.sdmp.spark.dialect import SDMP
from strandline.tables.new_manifests import write_manifest
from support.lakes import write_files
from support.object_rules import ObjectServer
from support.packaged import Program
from support.random_journals import corpus
from support.reference import outcome_of

[FILES] = corpus(seed=6, journals=12, runs=1)
# Every plain file is split that can be.
SMALL = ("--set", "read.lines_min_bytes=1", "--set", "read.split_bytes=200", "--set", "tables.buckets=4")


def lands_whole_or_split(program: Program, folder: Path, servers: Mapping[str, ObjectServer]) -> None:
    """Assert that two runs over a prefix and a glob of each server end with the states of the reference.

    One process of the program's environment lands both and reduces, for each server in the lake of its name, which lies
    in the folder or is new; the program itself shows it.
    """
    environment = {name: value for served in servers.values() for name, value in served.environment.items()}
    file = write_files(folder / "stated", FILES) / "0003-1.journal"
    stated = write_manifest([file], dialect="sdmp", records_in=SDMP.count_records)
    printed, typed = [], []
    for lake, served in servers.items():
        for name, content in FILES.items():
            served.put(f"dump/{name}", content)
        served.put("dump/cut.journal.gz", b"\x1f\x8b\x08\x00")
        served.put(f"dump/{stated.name}", stated.read_bytes())
        ours = ("--lake", lake, "--json")
        typed += [
            ["ingest", f"{served.root}/dump", "--dialect", "sdmp", *SMALL, *ours],
            ["ingest", f"{served.alias}/**/*", "--dialect", "sdmp", *ours],
            ["reduce", *ours],
        ]

    def answers(done: CompletedProcess[str]) -> list[dict]:
        printed.append(done.stdout + done.stderr)
        assert done.returncode == 0, printed[-1]
        return [json.loads(each) for each in done.stdout.splitlines()]

    counts, states = outcome_of(FILES)
    reports = iter(answers(program.run_all(*typed, cwd=folder, **environment)))
    for lake, served in servers.items():
        landed, known_again, reduced = next(reports), next(reports), next(reports)
        first = landed["counts"]
        # The cut object is one more rejected record.
        whole = asdict(counts)
        more = {name: first[name] - whole[name] for name in ("read", "rejected", "new")}
        assert more == {"read": 1, "rejected": 1, "new": 0}
        assert (first["complete"], first["damaged"]) == (1, 0)
        again = known_again["counts"]
        known = first["new"] + first["known"]
        assert (again["read"], again["new"], again["known"]) == (first["read"], 0, known)
        assert reduced["namespaces"] == len(states)
        [told] = answers(program.run("status", "--lake", lake, "--json", cwd=folder, **environment))
        assert {row["namespace"]: row["state_hash"] for row in told["rows"] if row["state_hash"]} == states
        assert f"{served.root}/dump/cut.journal.gz" in [each["source"] for each in told["damaged_files"]]
    secrets = [secret for served in servers.values() for secret in served.secrets]
    assert not [secret for secret in secrets if secret in "".join(printed)]
