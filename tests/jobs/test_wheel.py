"""The wheel and nothing else: its program does what a user begins with, in a folder with nothing in it."""

import json
import subprocess

from strandline.pipelines.demo.journals import journals
from support.lakes import write_files
from support.packaged import environment
from support.reference import states_of

FILES = {journal.name: journal.content for journal in journals()}


def test_the_installed_program_makes_a_lake_lands_reduces_and_answers(program, tmp_path):
    write_files(tmp_path / "dump", FILES)
    asked = "import strandline; print(strandline.__file__)"
    place = subprocess.run(
        [program.python, "-c", asked],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert place.startswith(f"{program.python.parents[1]}/lib/")

    def answer(*words: str) -> dict:
        done = program.run(*words, "--json", cwd=tmp_path)
        assert done.returncode == 0, done.stderr + done.stdout
        return json.loads(done.stdout)

    assert len(answer("init", "--buckets", "4")["created"]) == 6
    landed = answer("ingest", "dump", "--dialect", "sdmp")["counts"]
    assert {fate: landed[fate] for fate in ("read", "new", "known", "rejected", "deferred")} == {
        "read": 1259, "new": 1236, "known": 2, "rejected": 2, "deferred": 19,
    }  # fmt: skip
    expected = states_of(FILES)
    assert answer("reduce")["namespaces"] == len(expected)
    rows = answer("status")["rows"]
    assert {row["namespace"]: row["state_hash"] for row in rows} == expected
    query = "SELECT namespace, records FROM namespace_health ORDER BY namespace"
    assert answer("sql", query)["rows"] == sorted([row["namespace"], row["records"]] for row in rows)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dump", "lake"]
