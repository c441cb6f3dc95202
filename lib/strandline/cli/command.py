"""What all commands share: common options, examples in the help, one result."""

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from strandline.cli import show
from strandline.cli.help import CommandHelp
from strandline.cli.invocation import Invocation, Options
from strandline.cli.lost_columns import LostColumns
from strandline.cli.numbers import bounds_of, check_numbers
from strandline.dialect_api.info import LakeOption, RunOption
from strandline.dialects import infos, run_options
from strandline.pipelines.report import Report

Lake = Annotated[
    str | None,
    typer.Option("--lake", metavar="PATH", help="Folder or URI of the tables.  [default: lake]"),
]
Schema = Annotated[
    str | None,
    typer.Option("--schema", metavar="CATALOG.SCHEMA", help="Schema of the tables, instead of --lake."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on one line.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress on standard error.")]
Conf = Annotated[Path | None, typer.Option("--conf", metavar="FILE", help="File of settings.")]
Env = Annotated[
    str | None, typer.Option("--env", metavar="NAME", help="Packaged settings: local, dev or prod.")
]
SetValue = Annotated[
    list[str] | None, typer.Option("--set", metavar="SECTION.KEY=VALUE", help="One setting; can be repeated.")
]

Metrics = Annotated[
    Path | None,
    typer.Option("--metrics", metavar="FILE", help="Write the counts of the report as Prometheus text."),
]
RunId = Annotated[
    str | None,
    typer.Option(
        "--run-id",
        metavar="ID",
        help="Id of the run. If the lake already has a run with this id, only its report is printed.",
    ),
]

_WHERE = {"lake": Lake, "schema": Schema}
_HOW = {"as_json": AsJson, "quiet": Quiet, "conf": Conf, "env": Env, "set_value": SetValue}
_OPERATIONS = {"metrics": Metrics}
_RECORDED = {"run_id": RunId}


@dataclass(frozen=True, slots=True)
class Result:
    """A command's report, and the function that prints it for people."""

    report: Report
    show: Callable[[Console], None]


# The running call, so that an error report has its run id and lake: a process runs one command.
current: list[Invocation] = []


functions: dict[str, Callable[..., Result]] = {}
"""The commands as functions: the options are keywords, and an error is raised instead of printed."""


def command(
    app: typer.Typer,
    name: str,
    *,
    panel: str,
    examples: Sequence[str],
    tables: bool = True,
    recorded: bool = False,
) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """Register a function as the command `name`; its first parameter is the `Invocation`, the others its options.

    `examples` are shown in its help; with `tables` it takes --lake, --schema and --metrics. With `recorded` it writes
    one row of `run` and takes --run-id. The options that dialects declare for the command are added; their values are
    in `Invocation.options.of_dialects`.
    """
    added = _dialect_parameters(name)
    flags = {
        option.name: option.flag for info in infos().values() for option in info.lake_options if option.flag
    }

    def register(function: Callable[..., Result]) -> Callable[..., Result]:
        own = list(inspect.signature(function).parameters.values())[1:]
        parameters = [*own, *added.values(), *_shared_parameters(tables=tables, recorded=recorded)]
        bounds = bounds_of(own)

        @functools.wraps(function)
        def call(**values: Any) -> Result:
            texts = {option: values.pop(_identifier(option), None) for option in added}
            given = {
                option: values.pop(option, None) for option in (*_WHERE, *_HOW, *_OPERATIONS, *_RECORDED)
            }
            of_dialects = {option: _texts(option, text, flags) for option, text in texts.items() if text}
            invocation = Invocation(name, _options(given, of_dialects), sources=_sources(values))
            current[:] = [invocation]
            check_numbers(name, bounds, values)
            if invocation.options.gives_settings:
                # Not every command uses the settings, but every command reports a wrong one.
                _ = invocation.effective
            if invocation.options.run_id is not None:
                earlier = _earlier(invocation, {**values, **texts})
                if earlier is not None:
                    return earlier
            with LostColumns(invocation):
                return function(invocation, **values)

        signed: Any = call
        signed.__signature__ = inspect.Signature(parameters)
        signed.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        app.command(name, cls=CommandHelp, rich_help_panel=panel, epilog="\n".join(examples))(call)
        functions[name] = call
        return call

    return register


def _shared_parameters(*, tables: bool, recorded: bool) -> list[inspect.Parameter]:
    """Return the parameters of the options that a command shares with others, see `command`."""
    shared = {
        **(_WHERE if tables else {}), **_HOW, **(_OPERATIONS if tables else {}), **(_RECORDED if recorded else {}),
    }  # fmt: skip
    return [
        inspect.Parameter(
            option,
            inspect.Parameter.KEYWORD_ONLY,
            default=False if option in ("as_json", "quiet") else None,
            annotation=annotation,
        )
        for option, annotation in shared.items()
    ]


def _options(given: Mapping[str, Any], of_dialects: Mapping[str, tuple[str, ...]]) -> Options:
    """Return the options of a call; None in `given` is one that was not given, or that the command does not take."""
    return Options(
        lake=given["lake"],
        schema=given["schema"],
        as_json=bool(given["as_json"]),
        quiet=bool(given["quiet"]),
        conf=given["conf"],
        env=given["env"],
        settings=tuple(given["set_value"] or ()),
        of_dialects=of_dialects,
        metrics=given["metrics"],
        run_id=given["run_id"],
    )


def _earlier(call: Invocation, values: Mapping[str, Any]) -> Result | None:
    """Return the result of the run that the lake has by the id of --run-id, or None.

    Raises: UsageError, see `repeats`.
    """
    from strandline.cli.repeats import check_run_id, earlier_report, hash_of_arguments

    check_run_id(call.options.run_id or "")
    call.arguments = hash_of_arguments(values)
    report = earlier_report(call)
    return None if report is None else Result(report, lambda console: show.repeated(console, report))


def _sources(values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the inputs of a command, which are its argument `source` or `sources`."""
    named = values.get("sources") or values.get("source") or ()
    return (named,) if isinstance(named, str) else tuple(named)


def _dialect_parameters(command: str) -> dict[str, inspect.Parameter]:
    """Return the parameters of the options that dialects declare for a command, by option name."""
    found = {
        name: _run_parameter(option, " and ".join(readers))
        for name, (option, readers) in run_options(command).items()
    }
    if command == "init":
        for dialect, info in infos().items():
            found |= {option.name: _lake_parameter(option, dialect) for option in info.lake_options}
    return found


def _run_parameter(option: RunOption, readers: str) -> inspect.Parameter:
    return _optional(
        option.name,
        list[str] if option.is_list else str,
        metavar=option.metavar,
        help=f"{readers}: {option.help}",
    )


def _lake_parameter(option: LakeOption, dialect: str) -> inspect.Parameter:
    shown = f"{dialect}: {option.help}"
    if option.flag is None:
        return _optional(option.name, str, metavar=option.metavar, help=shown)
    return _optional(option.name, bool, help=shown)


def _optional(name: str, kind: Any, **shown: Any) -> inspect.Parameter:
    """Return the parameter of an option whose default is None."""
    option = typer.Option(f"--{name}", **shown)
    return inspect.Parameter(
        _identifier(name),
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[kind | None, option],
    )


def _identifier(option: str) -> str:
    return option.replace("-", "_")


def _texts(name: str, given: Any, flags: Mapping[str, str]) -> tuple[str, ...]:
    if given is True:
        return (flags[name],)
    return (given,) if isinstance(given, str) else tuple(given)
