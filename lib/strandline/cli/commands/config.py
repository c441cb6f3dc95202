"""The command `config`."""

import typer

from strandline.cli import show
from strandline.cli.command import Result, command
from strandline.cli.invocation import Invocation
from strandline.dialect_api.info import DialectInfo
from strandline.dialects import infos
from strandline.pipelines.report import Report


def add_to(app: typer.Typer) -> None:
    """Add the command to `app`."""
    command(
        app,
        "config",
        panel="Start",
        tables=False,
        examples=(
            "strandline config",
            "strandline config --env prod --set tables.buckets=32",
            "STRANDLINE_SPARK__DRIVER_MEMORY=8g strandline config --json",
        ),
    )(_config)


def _config(call: Invocation) -> Result:
    """Print the settings in use and the source of each, and the options that dialects add to commands."""
    from strandline.config.settings import keys

    effective = call.effective
    values = effective.settings.model_dump()
    rows = []
    for key in keys():
        section, _, name = key.partition(".")
        rows.append((key, values[section][name], effective.places[key]))
    report = Report(
        command="config",
        run_id=call.run_id,
        seconds=call.elapsed(),
        members={
            "settings": {key: {"value": value, "from": place} for key, value, place in rows},
            "dialect_options": [row for info in infos().values() for row in _options(info)],
        },
    )
    return Result(report, lambda console: show.config(console, report))


def _options(info: DialectInfo) -> list[dict[str, str]]:
    """Return the options that a dialect adds: option, dialect, its commands, and how long a value applies."""
    of_lake = [
        (option.name, "init", f"the lake, as {option.table_property} of {option.table}")
        for option in info.lake_options
    ]
    of_runs = [
        (option.name, ", ".join(option.commands), "this run and later ones" if option.sticky else "this run")
        for option in info.run_options
    ]
    return [
        {"option": f"--{name}", "dialect": info.name, "commands": commands, "holds_for": holds_for}
        for name, commands, holds_for in (*of_lake, *of_runs)
    ]
