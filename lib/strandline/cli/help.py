"""The text of `--help`, wrapped so that no word, option or example is broken."""

import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from inspect import cleandoc
from typing import Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup

from strandline.cli.streams import to_reader

_INDENT = "  "
_MOST_NAME = 28
"""A longer name is on its own line, above its text."""
_RANGE = re.compile(r"\[(?:x>=([0-9]+)|([0-9]+)<=x<=([0-9]+))\]")
_SHARED = frozenset({"lake", "schema", "as_json", "quiet", "conf", "env", "set_value", "help"})


class CommandHelp(TyperCommand):
    """A command whose epilog is its examples, one a line."""

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        """Return the context of a call, or print the help."""
        return _told(super().make_context, *args, **kwargs)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write usage, description, arguments, options and examples."""
        width = formatter.width
        arguments = [each for each in self.params if isinstance(each, TyperArgument)]
        usage = " ".join([ctx.command_path, *(str(each.metavar) for each in arguments), "[OPTIONS]"])
        formatter.write(f"Usage: {usage}\n\n{_described(self.help, width)}")
        options = [each for each in self.get_params(ctx) if each not in arguments]
        own = [each for each in options if each.name not in _SHARED]
        for title, rows in (
            ("Arguments", [(str(each.metavar), each.help or "") for each in arguments]),
            ("Options", _records(own, ctx)),
            ("Options of most commands", _records([each for each in options if each not in own], ctx)),
        ):
            formatter.write(_section(title, rows, width))
        formatter.write(f"\nExamples:\n{_examples((self.epilog or '').splitlines(), width)}")


class GroupHelp(TyperGroup):
    """All commands, grouped in panels."""

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        """Return the context of a call, or print the help or the versions."""
        return _told(super().make_context, *args, **kwargs)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write usage, description, commands by panel and options."""
        width = formatter.width
        formatter.write(f"Usage: {ctx.command_path} COMMAND [OPTIONS]\n\n{_described(self.help, width)}")
        panels: dict[str, list[tuple[str, str]]] = {}
        for name, command in self.commands.items():
            first, *_ = _paragraphs(command.help)
            panels.setdefault(getattr(command, "rich_help_panel", "") or "", []).append((name, first))
        for panel, rows in panels.items():
            formatter.write(_section(panel, rows, width))
        formatter.write(_section("Options", _records(self.get_params(ctx), ctx), width))


def _told(parse: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Return what `parse` returns. It may print: its reader may end before the text does.

    Raises: typer.Exit after a text; OutputLostError.
    """
    with to_reader():
        return parse(*args, **kwargs)
    raise typer.Exit


def _records(options: Iterable[Any], ctx: Any) -> list[tuple[str, str]]:
    found = (each.get_help_record(ctx) for each in options)
    return [(record[0], _RANGE.sub(_in_words, record[1])) for record in found if record is not None]


def _in_words(found: re.Match[str]) -> str:
    return f"[at least {found[1]}]" if found[1] else f"[{found[2]} to {found[3]}]"


def _section(title: str, rows: Sequence[tuple[str, str]], width: int) -> str:
    """Return a titled list of names and texts, texts in one column; nothing for no rows."""
    if not rows:
        return ""
    column = len(_INDENT) + 2 + min(max(len(name) for name, _ in rows), _MOST_NAME)
    lines = [f"\n{title}:"]
    for name, text in rows:
        wrapped = _wrapped(text, width, " " * column)
        begins = f"{_INDENT}{name}"
        if len(begins) + 2 > column or not wrapped:
            lines += [begins, *wrapped]
        else:
            lines += [begins.ljust(column) + wrapped[0][column:], *wrapped[1:]]
    return "\n".join(lines) + "\n"


def _described(text: str | None, width: int) -> str:
    paragraphs = ("\n".join(_wrapped(each, width, _INDENT)) for each in _paragraphs(text))
    return "\n\n".join(paragraphs) + "\n"


def _paragraphs(text: str | None) -> list[str]:
    return [" ".join(each.split()) for each in cleandoc(text or "").split("\n\n")]


def _wrapped(text: str, width: int, indent: str) -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=indent,
        break_on_hyphens=False,
        break_long_words=False,
    )


def _examples(commands: Sequence[str], width: int) -> str:
    """Return the commands as they are typed; a backslash continues one that is too wide."""
    lines: list[str] = []
    for command in commands:
        begin, *parts = command.split(" --")
        line = _INDENT + begin
        for part in (f" --{each}" for each in parts):
            if len(line + part) + len(" \\") > width:
                lines.append(line + " \\")
                line = 2 * _INDENT + part.lstrip()
            else:
                line += part
        lines.append(line)
    return "\n".join(lines) + "\n"
