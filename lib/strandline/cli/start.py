"""The commands `demo`, `doctor`, `init` and `config`."""

from typing import Annotated

import typer

from strandline.cli import show
from strandline.cli.command import Result, command
from strandline.cli.invocation import Invocation
from strandline.dialect_api.info import DialectInfo
from strandline.pipelines.report import Report

_PANEL = "Start"


def add_to(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    command(app, "demo", panel=_PANEL, tables=False, examples=("strandline demo", "strandline demo --json"))(
        _demo
    )
    command(
        app,
        "doctor",
        panel=_PANEL,
        examples=("strandline doctor", "strandline doctor --lake /data/lake --json"),
    )(_doctor)
    command(
        app,
        "init",
        panel=_PANEL,
        examples=(
            "strandline init",
            "strandline init --lake /data/lake --buckets 64 --strict",
            "strandline init --schema main.strandline",
            "strandline init --ipfslog-profile compat",
        ),
    )(_init)
    command(
        app,
        "config",
        panel=_PANEL,
        tables=False,
        examples=(
            "strandline config",
            "strandline config --env prod --set tables.buckets=32",
            "STRANDLINE_SPARK__DRIVER_MEMORY=8g strandline config --json",
        ),
    )(_config)


def _demo(call: Invocation) -> Result:
    """Ingest published journals into a new lake, demo-lake, and show the results."""
    from strandline.pipelines import demo
    from strandline.tables.location import Location

    # A few small plans, each run once: the JVM's second compiler and parallel collector cost more than they save.
    # Without that compiler Java reserves 48 MB for compiled code; a session fills them and compiles again and again.
    call.environ.setdefault(
        "JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"
    )
    with call.progress() as progress:
        settings = call.settings
        spark = call.session()
        report = demo.run(spark, Location.lake(demo.LAKE), settings, call.context(progress))
    return Result(report, lambda console: show.demo(console, report))


def _doctor(call: Invocation) -> Result:
    """Check Java, Spark, the Delta jar, Arrow and write access; show the next step for each fault."""
    from strandline.pipelines import doctor

    with call.progress() as progress:
        report = doctor.run(call.settings, call.location, call.environ, call.session, call.context(progress))
    return Result(report, lambda console: show.doctor(console, report))


def _init(
    call: Invocation,
    buckets: Annotated[
        int | None,
        typer.Option(
            "--buckets",
            metavar="N",
            min=1,
            max=65_536,
            help="Number of partitions of every table of a new lake.",
        ),
    ] = None,
) -> Result:
    """Create the missing tables and views, and print what was done.

    Options that decide verdicts are fixed when a lake is created: a lake with another value is exit code 2.
    """
    from strandline.pipelines import init

    options = init.InitOptions(
        buckets=buckets,
        dialect_options={name: texts[0] for name, texts in call.options.of_dialects.items()},
        default_buckets=call.settings.tables.buckets,
        deletion_vectors=call.settings.tables.deletion_vectors,
    )
    with call.progress() as progress:
        report = init.run(call.store(), options, call.context(progress))
    return Result(report, lambda console: show.init(console, report))


def _config(call: Invocation) -> Result:
    """Print the settings in use and the source of each, and the options that dialects add to commands."""
    from strandline.config.settings import keys
    from strandline.dialects import infos

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
