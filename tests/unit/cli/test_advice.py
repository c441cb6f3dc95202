"""What the advice of a reason says to do can be typed: whole commands, settings that exist, no property of Delta."""

import re
import shlex

import pytest

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
