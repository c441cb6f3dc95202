"""Input from a store through the installed program: the same rows as from a folder."""

import json
from dataclasses import asdict
from pathlib import Path
from subprocess import CompletedProcess

from strandline.dialects.sdmp.spark.dialect import SDMP
from strandline.tables.manifests import write_manifest
from support.lakes import write_files
from support.object_rules import ObjectServer
from support.packaged import Program
from support.random_journals import corpus
from support.reference import outcome_of

[FILES] = corpus(seed=6, journals=12, runs=1)
# Every plain file is split that can be.
SMALL = ("--set", "read.lines_min_bytes=1", "--set", "read.split_bytes=200", "--set", "tables.buckets=4")


def lands_whole_or_split(program: Program, folder: Path, served: ObjectServer) -> None:
    """Assert that two runs over a prefix and a glob of a server end with the states of the reference.

    One process of the program's environment lands both and reduces, in the lake of the folder or a new one; the program
    itself shows it.
    """
    printed = []
    dump = f"{served.root}/dump"
    for name, content in FILES.items():
        served.put(f"dump/{name}", content)
    served.put("dump/cut.journal.gz", b"\x1f\x8b\x08\x00")
    file = write_files(folder / "stated", FILES) / "0003-1.journal"
    stated = write_manifest([file], dialect="sdmp", records_in=SDMP.count_records)
    served.put(f"dump/{stated.name}", stated.read_bytes())

    def answers(done: CompletedProcess[str]) -> list[dict]:
        printed.append(done.stdout + done.stderr)
        assert done.returncode == 0, printed[-1]
        return [json.loads(each) for each in done.stdout.splitlines()]

    counts, states = outcome_of(FILES)
    typed = (
        ["ingest", dump, "--dialect", "sdmp", *SMALL, "--json"],
        ["ingest", f"{served.alias}/**/*", "--dialect", "sdmp", "--json"],
        ["reduce", "--json"],
    )
    landed, known_again, reduced = answers(program.run_all(*typed, cwd=folder, **served.environment))
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
    [told] = answers(program.run("status", "--json", cwd=folder, **served.environment))
    assert {row["namespace"]: row["state_hash"] for row in told["rows"] if row["state_hash"]} == states
    assert f"{dump}/cut.journal.gz" in [each["source"] for each in told["damaged_files"]]
    assert not [secret for secret in served.secrets if secret in "".join(printed)]
