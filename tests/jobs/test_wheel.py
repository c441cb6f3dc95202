"""The wheel and nothing else: its program does what a user begins with, in a folder with nothing in it."""

import json
import subprocess
from dataclasses import asdict

from strandline.contracts.load import tables
from support.lakes import write_files
from support.packaged import environment
from support.random_journals import corpus
from support.reference import outcome_of

[FILES] = corpus(seed=6, journals=12, runs=1)


def test_the_installed_program_makes_a_lake_lands_reduces_and_answers(program, tmp_path):
    """In a folder whose name the locale of the process does not have, as under cron."""
    folder = tmp_path / "Журнал ıİ"
    write_files(folder / "dump", FILES)
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

    def answers(done: subprocess.CompletedProcess[str]) -> list[dict]:
        assert done.returncode == 0, done.stderr + done.stdout
        return [json.loads(each) for each in done.stdout.splitlines()]

    query = "SELECT namespace, records FROM namespace_health ORDER BY namespace"
    made, landed, reduced, answer = answers(
        program.run_all(
            ["init", "--buckets", "4", "--json"],
            ["ingest", "dump", "--dialect", "sdmp", "--json"],
            ["reduce", "--json"],
            ["sql", query, "--json"],
            cwd=folder,
            LC_ALL="C",
        )
    )
    assert made["created"] == list(tables())
    counts, states = outcome_of(FILES)
    assert landed["counts"].items() >= asdict(counts).items()
    assert reduced["namespaces"] == len(states)
    [told] = answers(program.run("status", "--json", cwd=folder))
    rows = told["rows"]
    assert {row["namespace"]: row["state_hash"] for row in rows if row["state_hash"]} == states
    assert answer["rows"] == sorted([row["namespace"], row["records"]] for row in rows)
    assert sorted(path.name for path in folder.iterdir()) == ["dump", "lake"]
    assert list(tmp_path.iterdir()) == [folder]


ENTRY = (
    "import sys; from importlib.metadata import entry_points; sys.argv[0] = 'strandline'; "
    "[entry] = entry_points(group='console_scripts', name='strandline'); entry.load()()"
)


def test_who_calls_the_entry_point_of_the_wheel_gets_the_exit_code(program, tmp_path):
    for words, code in ((("explain", "JSON_INVALID"), 0), (("status",), 2), (("nonsense",), 2)):
        process = program.start(*words, cwd=tmp_path, script=ENTRY)
        process.communicate(timeout=60)
        assert (words, process.returncode) == (words, code)
        assert program.run(*words, cwd=tmp_path).returncode == code
