"""What README and its pages tell to type is typed, in their order, in one folder; what they show is what comes out."""

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

import strandline_check.proof as checker
from strandline.cli import main
from strandline.core.ed25519 import Ed25519Key
from strandline.dialects import dialect
from support.lakes import write_files
from support.packaged import ROOT
from support.typed_pages import BLOCKS, DASHBOARDS, TEXT, commands

MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
# A block of json is the content of the file that is named last before it.
FILES = {
    text: name
    for name, text in re.findall(r"`([\w.]+)`:\n\n```json\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)
}
PRUNING_PAGE = (ROOT / "docs" / "snapshots.md").read_text(encoding="utf-8")
CHECKPOINTS_PAGE = (ROOT / "docs" / "checkpoints.md").read_text(encoding="utf-8")
PYTHON_PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
AURA_PAGE = (ROOT / "docs" / "aura.md").read_text(encoding="utf-8")
AURA_QUERIES = re.findall(r"^```sql\n(.*?)^```\n(?:\n```\n(.*?)^```)?", AURA_PAGE, re.DOTALL | re.MULTILINE)
"""The queries of the page about Aura, each with its output, or an empty text where the page shows none."""
# The first command that writes makes a lake: so it is with `second-lake`. These are copies of an empty one.
COPIES = ("lake", "own-lake", "copied-lake", "stores-lake", "devices-lake")
# These start no JVM: they are cheap as processes of their own.
LIGHT = ("status", "quarantine", "explain", "config")


def recipe(target: str) -> str:
    """The commands of a target of the Makefile."""
    found = re.search(rf"^{target}:.*\n((?:\t.*\n)*)", MAKEFILE, re.MULTILINE)
    assert found, f"the Makefile has no target {target}"
    return found[1]


def as_shown(shown: str, printed: str) -> bool:
    """Whether each line shown was printed, in this order; one that ends in an ellipsis is the start of one."""
    rest = iter(printed.splitlines())
    return all(
        any(line == each or (line.endswith("…") and each.startswith(line[:-1])) for each in rest)
        for line in shown.splitlines()
        if line
    )


def test_every_command_of_the_readme_and_its_pages_runs_and_prints_what_is_shown(
    spark, program, empty_lakes, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for name in COPIES:
        shutil.copytree(empty_lakes[False], tmp_path / name)
    monkeypatch.setenv("COLUMNS", "300")
    ran, printed = [], []

    def run(line: str) -> tuple[int, str, str]:
        words = shlex.split(line, comments=True)
        if words[0] == "make":
            if "strandline demo" not in recipe(words[1]):
                return 0, "", ""
            words = ["strandline", "demo"]
        if words[0] == "export":
            return 0, "", ""
        if words[:2] == ["cp", "-r"]:
            shutil.copytree(words[2], words[3])
            return 0, "", ""
        assert words[0] == "strandline", f"this line is no command that is tested: {line}"
        ran.append(words)
        if words[1] in LIGHT:
            done = program.run(*words[1:], cwd=tmp_path, COLUMNS="300")
            return done.returncode, done.stdout, done.stderr
        capsys.readouterr()
        return main(words[1:]), *capsys.readouterr()

    for language, text in BLOCKS:
        if language == "sh":
            printed = []
            for line in text.splitlines():
                code, out, err = run(line)
                assert code == (1 if "--check" in line else 0), f"{line}\n{err}"
                printed.append(out)
        elif language == "json":
            (tmp_path / FILES[text]).write_text(text)
        else:
            out = "".join(printed)
            assert as_shown(text, out), out
            if ran[-1][1] == "sql":
                assert text == out
    asked = [words for words in ran if words[1] == "sql" and "demo-lake" in words]
    assert len(asked) >= 5
    assert {Path(words[3]).stem for words in asked if words[2] == "-f"} == set(DASHBOARDS)
    # The last block lands the same files again.
    again = json.loads(printed[0])
    assert (again["command"], again["counts"]["new"], again["counts"]["known"]) == ("ingest", 0, 1238)
    assert {words[1] for words in ran} == {
        "check",
        "demo",
        "doctor",
        "export",
        "ingest",
        "reduce",
        "sql",
        "sync",
        *LIGHT,
    }
    # The facts of the demo, which were landed above, are those of the page.
    assert len(AURA_QUERIES) == 5
    for query, shown in AURA_QUERIES:
        code, out, err = run(shlex.join(["strandline", "sql", query]))
        assert (code, out) == (0, shown or out), err


def test_every_python_block_of_its_page_runs_and_prints_what_is_shown(
    spark, empty_lakes, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(empty_lakes[False], tmp_path / "lake")
    write_files(tmp_path / "dump", {file.name: file.content for file in dialect("sdmp").demo().files})
    namespace: dict[str, object] = {}
    printed, ran = "", 0
    for language, text in re.findall(r"^```(\w*)\n(.*?)^```", PYTHON_PAGE, re.DOTALL | re.MULTILINE):
        if language == "python":
            exec(compile(text, f"docs/python.md, block {ran}", "exec"), namespace)
            printed, ran = capsys.readouterr().out, ran + 1
        elif not language:
            assert as_shown(text, printed), printed
    assert ran >= 3


def test_every_command_of_the_page_about_checkpoints_runs_and_its_proofs_are_checked(
    spark, empty_lakes, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STRANDLINE_CHECKPOINT_KEY", "07" * 32)
    shutil.copytree(empty_lakes[False], tmp_path / "demo-lake")
    write_files(tmp_path / "dump", {file.name: file.content for file in dialect("ipfslog").demo().files})
    # Part of what is not accepted there is the point of the demo: exit code 0 all the same.
    assert main(["ingest", "dump", "--dialect", "ipfslog", "--lake", "demo-lake"]) == 0
    capsys.readouterr()
    key, record = Ed25519Key(b"\x07" * 32).public.hex(), ""
    ran = []
    for line in re.findall(r"^(?:strandline|python -m) .*$", CHECKPOINTS_PAGE, re.MULTILINE):
        words = shlex.split(line.replace("RECORD", record).replace("KEY", key))
        is_ours = words[0] == "strandline"
        code = main(words[1:]) if is_ours else checker.main(words[3:])
        out, err = capsys.readouterr()
        assert code == 0, f"{words}\n{out}\n{err}"
        assert is_ours or out.startswith("proven: ")
        found = re.search(r"\b[0-9a-f]{64}\b", out) if words[1] == "sql" else None
        record = found[0] if found else record
        ran.append(words[1] if is_ours else words[3])
    assert ran == [
        "checkpoint", "checkpoint", "prove", "sql", "prove", "prove", "note", "record", "continued",
    ]  # fmt: skip


@pytest.mark.slow
def test_every_command_of_the_page_about_pruning_runs(spark, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    # In a lake of one dialect: a collection plans each one with records.
    devices = str(ROOT / "examples" / "devices.jsonl")
    typed = [
        ["strandline", "ingest", devices, "--dialect", "devicelog"],
        ["strandline", "reduce"],
        *commands(PRUNING_PAGE),
    ]
    assert {words[1] for words in typed} >= {"gc", "snapshot", "sql"}
    for words in typed:
        code = main([*words[1:], "--lake", "devices-lake"])
        out, err = capsys.readouterr()
        assert (code, bool(out)) == (0, True), f"{words}\n{err}"
