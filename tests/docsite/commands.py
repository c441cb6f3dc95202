"""The page of the commands, as their parser explains them."""

from docsite import markdown
from strandline.cli.app import commands

WIDTH = 100


def page() -> str:
    """Return the page: the list of commands, then the help of each."""
    group = commands()
    rows = [
        (f"[`strandline {name}`](#strandline-{name})", _first(command.help))
        for name, command in group.commands.items()
    ]
    return markdown.page(
        "Commands",
        "The texts of `strandline COMMAND --help`. [Commands, settings, exit codes](../usage.md) describes what all of"
        " them share.",
        markdown.table(("command", "does"), rows),
        *(_section(name) for name in group.commands),
    )


def _first(text: str | None) -> str:
    return " ".join((text or "").strip().partition("\n\n")[0].split())


def _section(name: str) -> str:
    group = commands()
    with (
        group.make_context("strandline", [], resilient_parsing=True, max_content_width=WIDTH) as above,
        group.commands[name].make_context(
            name, [], parent=above, resilient_parsing=True, terminal_width=WIDTH
        ) as context,
    ):
        return f"## strandline {name}\n\n" + markdown.block("text", context.get_help())
