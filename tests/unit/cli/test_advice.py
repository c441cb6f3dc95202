"""What the advice of a reason says to do can be typed: whole commands, settings that exist, no property of Delta."""

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

import strandline
from strandline.cli.app import command_names, commands
from strandline.contracts.reasons import reasons

TYPED = re.compile(r"`strandline ([^`]+)`")
# A command with options, outside of backticks.
UNTYPED = re.compile(rf"\b(?:{'|'.join(command_names())}) --\w")
ADVICE = {code: reason.advice for code, reason in reasons().items()}
COMMANDS = [
    pytest.param(command.replace("HOURS", "168"), id=f"{code}: {command}")
    for code, advice in ADVICE.items()
    for command in TYPED.findall(advice)
]


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_of_an_advice_parses_and_lacks_no_dialect(command: str) -> None:
    name, *words = shlex.split(command)
    with commands().make_context("strandline", [], resilient_parsing=True) as above:
        context = commands().commands[name].make_context(name, words, parent=above)
    assert name != "ingest" or context.params["dialect"]


def test_each_command_with_options_stands_there_as_it_is_typed() -> None:
    assert {code for code, advice in ADVICE.items() if UNTYPED.search(TYPED.sub("", advice))} == set()
    assert len(COMMANDS) > 5


def test_no_advice_sets_what_maintain_sets_back() -> None:
    # `maintain` sets both properties of every table to its own number of days.
    assert [code for code, advice in ADVICE.items() if "RetentionDuration" in advice] == []
    assert "--keep-days" in ADVICE["VERSION_VACUUMED"]


def _texts(module: Path) -> Iterator[str]:
    """Yield the texts of a module but its docstrings, with NAME for each value in them; none if no text can fit."""
    source = module.read_text(encoding="utf-8")
    if "`strandline " not in source:
        return
    tree = ast.parse(source)
    parts = {
        id(part) for each in ast.walk(tree) if isinstance(each, ast.JoinedStr) for part in ast.walk(each)
    }
    said = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
    for each in ast.walk(tree):
        if isinstance(each, ast.JoinedStr):
            yield "".join(map(_told, each.values))
        elif (
            isinstance(each, ast.Constant) and isinstance(each.value, str) and not {id(each)} & (parts | said)
        ):
            yield each.value


def _told(part: ast.expr) -> str:
    if isinstance(part, ast.Constant):
        return str(part.value)
    return "--lake NAME" if "option_of" in ast.unparse(part) else "NAME"


NEXT_STEPS = [
    pytest.param(command, id=f"{module.stem}: {command}")
    for module in sorted(Path(strandline.__file__).parent.rglob("*.py"))
    for text in _texts(module)
    for command in TYPED.findall(text)
    if " " in command and command.partition(" ")[0] in command_names()
]


@pytest.mark.parametrize("command", NEXT_STEPS)
def test_each_command_of_a_message_can_be_typed(command: str) -> None:
    name, *words = shlex.split(command)
    with commands().make_context("strandline", [], resilient_parsing=True) as above:
        context = commands().commands[name].make_context(name, words, parent=above)
    given = context.params
    if name in ("ingest", "stream"):
        assert given["dialect"]
    if name == "stream":
        assert given["available_now"] or given["every"]


def test_messages_name_many_commands() -> None:
    assert len(NEXT_STEPS) > 20
