"""The help of every command at 80 columns: whole words, whole sentences, every option, examples as they are typed."""

import platform
import re
import shlex
from importlib.metadata import PackageNotFoundError, version

import pytest

from strandline.cli import main
from strandline.cli.app import command_names, commands

GROUP = commands()
COMMANDS = [(), *((name,) for name in command_names())]
WIDTH = 80
# Types of Python, ranges of the parser, sentences cut short, brackets around what repeats.
OF_THE_PARSER = re.compile(r"<[a-z]+|x[<>]=|=x|\.\.\.$|…|\bNone\b|\.\.\.\]|\[\[", re.MULTILINE)


@pytest.fixture
def shown(capsys, monkeypatch):
    def run(*words: str) -> str:
        monkeypatch.setenv("COLUMNS", str(WIDTH))
        assert main([*words, "--help"]) == 0
        return capsys.readouterr().out

    return run


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words) or "all")
def test_no_line_is_wider_than_the_screen_and_no_word_of_the_parser_shows(words, shown):
    help_text = shown(*words)
    assert max(map(len, help_text.splitlines())) <= WIDTH
    assert not OF_THE_PARSER.search(help_text)
    assert not re.search(r"[ \t]$", help_text, re.MULTILINE)


@pytest.mark.parametrize("name", command_names())
def test_every_text_stands_there_whole(name, shown):
    told, command = " ".join(shown(name).split()), GROUP.commands[name]
    texts = [" ".join(each.split()) for each in command.help.split("\n\n")]
    texts += [" ".join(each.help.split()) for each in command.params if each.help]
    assert [each for each in texts if each not in told] == []
    options = [option for each in command.params for option in each.opts if option.startswith("-")]
    assert [option for option in options if option not in told] == []
    assert texts[0] in " ".join(shown().split())


@pytest.mark.parametrize("name", command_names())
def test_examples_are_typed_as_they_stand_there(name, shown):
    examples = shown(name).partition("\nExamples:\n")[2].replace(" \\\n", " ")
    typed = [shlex.split(line) for line in examples.splitlines()]
    assert typed == [shlex.split(line) for line in GROUP.commands[name].epilog.splitlines()]
    assert all("strandline" in words for words in typed)


def test_formats_are_those_that_a_command_reads_or_writes(shown):
    assert "ipfslog: lines, json, car; aura: lines, json, cbor; devicelog: lines, json." in " ".join(
        shown("ingest").split()
    )
    assert "ipfslog: car; aura: lines, json, cbor; devicelog: lines." in " ".join(shown("export").split())


def test_arguments_that_can_be_left_out_are_in_brackets(shown):
    for name, command in GROUP.commands.items():
        arguments = [each for each in command.params if not each.opts[0].startswith("-")]
        assert [each.required for each in arguments] == [each.metavar[0] != "[" for each in arguments], name


def test_what_leveldb_needs_and_bounds_of_numbers_are_said(shown):
    assert "the extra [leveldb]" in " ".join(shown("unpack").split())
    assert "[1 to 65536]" in " ".join(shown("init").split())
    assert "[at least 1]" in " ".join(shown("stream").split())


def test_a_page_of_help_is_laid_out_in_columns(shown):
    assert shown("explain").splitlines() == [
        "Usage: strandline explain CODE [OPTIONS]",
        "",
        "  Explain a reason code: what it means, its source and what to do.",
        "",
        "Arguments:",
        "  CODE  A reason code, in upper or lower case.",
        "",
        "Options of most commands:",
        "  --json                   Print one JSON object on one line.",
        "  --quiet                  No progress on standard error.",
        "  --conf FILE              File of settings.",
        "  --env NAME               Packaged settings: local, dev or prod.",
        "  --set SECTION.KEY=VALUE  One setting; can be repeated.",
        "  -h, --help               Show this message and exit.",
        "",
        "Examples:",
        "  strandline explain LINE_NUMBER_MISMATCH",
        "  strandline explain predecessor_unknown --json",
    ]


def test_the_versions_are_those_of_what_it_runs_on(capsys, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"Strandline {version('strandline')}", f"Spark {version('pyspark')}", f"Delta {version('delta-spark')}",
        "Java not found", f"Python {platform.python_version()}",
    ]  # fmt: skip


def test_a_part_that_is_not_installed_is_said(capsys, monkeypatch):
    def nothing(package):
        raise PackageNotFoundError(package)

    monkeypatch.setattr(
        "strandline.cli.app.version", lambda name: "1" if name == "strandline" else nothing(name)
    )
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.splitlines()[:3] == [
        "Strandline 1", "Spark not installed", "Delta not installed",
    ]  # fmt: skip
