"""Turns an error of the command line's parser into one sentence and a next step that leads on."""

import inspect
from typing import Any

import typer

from strandline.cli.app import command_names, commands
from strandline.cli.command import functions
from strandline.cli.numbers import bounds_of
from strandline.cli.text import printable
from strandline.core.errors import UsageError
from strandline.core.nearest import did_you_mean, nearest

_OF_A_CHECK = "Value error, "
"""What the parser writes before the text of a check of its own."""


def as_usage(error: typer.TyperException, command: str) -> UsageError:
    """Return an error of the parser as a UsageError, with the nearest known name for an unknown one.

    `command` is the first word that was typed: not every error of the parser has a context.
    """
    context: Any = getattr(error, "ctx", None)
    typed = f"strandline {command}" if command in command_names() else "strandline"
    path = context.command_path if context is not None else typed
    if type(error).__name__ == "NoSuchOption" and context is not None:
        return _unknown_option(str(getattr(error, "option_name", "")), path, context)
    message = printable(error.format_message()).strip().rstrip(".")
    if message.startswith("No such command"):
        word = message.split("'")[1] if "'" in message else ""
        return UsageError(
            "COMMAND_UNKNOWN", f"{path} has no command {word}", did_you_mean(word, command_names())
        )
    number = _number(error, context)
    sentence = number or f"{message[:1].lower()}{message[1:]}".replace(_OF_A_CHECK, "")
    return UsageError("USAGE", f"{path}: {sentence}", f"`{path} --help` shows the usage")


def _unknown_option(option: str, path: str, context: Any) -> UsageError:
    """Return the error of an option that the command lacks, with the commands that have it."""
    having = [name for name, command in commands().commands.items() if option in _options(command)]
    best = nearest(option, _options(context.command))
    if context.parent is None and having:
        hint = f"options follow the command: `{path} {having[0] if len(having) == 1 else 'COMMAND'} {option}`"
    elif having:
        hint = f"it is an option of {_listed(having)}"
    else:
        hint = f"did you mean {best}?" if best else f"`{path} --help` lists its options"
    return UsageError("OPTION_UNKNOWN", f"{path} has no option {printable(option)}", hint)


def _options(command: Any) -> list[str]:
    return [name for parameter in command.params for name in parameter.opts]


def _listed(names: list[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _number(error: typer.TyperException, context: Any) -> str | None:
    """Return what an option that is a number must be, or None for another error."""
    parameter = getattr(error, "param", None)
    if context is None or parameter is None:
        return None
    declared = inspect.signature(functions[context.command.name]).parameters.values()
    bounds = bounds_of(declared).get(parameter.name)
    return None if bounds is None else f"{parameter.opts[0]} must be {bounds.in_words()}"
