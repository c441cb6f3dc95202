"""Dialects that are only declared, and the help that the commands give then."""

from collections.abc import Mapping
from types import SimpleNamespace

import typer
from click.testing import CliRunner

from strandline import dialects
from strandline.dialect_api.info import DialectInfo

COMMANDS = ("ingest", "stream", "reduce", "sync")


def declare(monkeypatch, info: DialectInfo) -> SimpleNamespace:
    """Add a dialect to the registry that has a description and nothing else."""
    with_it: Mapping[str, DialectInfo] = {**dialects.infos(), info.name: info}
    monkeypatch.setattr(dialects, "infos", lambda: with_it)
    monkeypatch.setattr("strandline.cli.command.infos", lambda: with_it)
    return SimpleNamespace(info=info)


def help_of(command: str) -> str:
    """The help of a command, its lines joined, as it is made from the registry of now."""
    from strandline.cli.commands import config, demo, doctor, ingest, init, reduce, stream, sync

    app = typer.Typer(rich_markup_mode=None)
    for module in (demo, doctor, init, config, ingest, reduce, stream, sync):
        module.add_to(app)
    shown = CliRunner().invoke(typer.main.get_command(app), [command, "--help"], env={"COLUMNS": "2000"})
    assert shown.exit_code == 0, shown.output
    return " ".join(shown.output.split())
