"""The command `sync`."""

from pathlib import Path
from typing import Annotated

import typer

from strandline.cli import show
from strandline.cli.command import Result, command
from strandline.cli.dialect_options import read_dialect_options
from strandline.cli.invocation import Invocation
from strandline.core.errors import UsageError
from strandline.dialects import dialect as dialect_named
from strandline.dialects import every, infos, names
from strandline.tables.delta_rs import check_logs
from strandline.tables.location import Location
from strandline.tables.refusals import check_place

Source = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="LAKE",
        help="The lake to copy records from: a path or CATALOG.SCHEMA.",
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        "--to",
        metavar="LAKE",
        help="With --from: the lake to write, instead of --lake or --schema.",
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="With --from: only show what is missing; write nothing.")
]
Requests = Annotated[
    Path | None,
    typer.Option(
        "--requests",
        metavar="FILE",
        help="Write the requests of local nodes to their peers to this file.",
    ),
]
Answer = Annotated[
    Path | None,
    typer.Option("--answer", metavar="FILE", help="Only answer the requests in this file; needs --out."),
]
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", help="With --answer: the file to write the answers to."),
]


def add_to(app: typer.Typer) -> None:
    """Add the command to `app`."""
    command(
        app,
        "sync",
        panel="Load",
        examples=(
            "strandline sync --from /backup/lake",
            "strandline sync --from main.theirs --schema main.ours --dry-run",
            "strandline sync --nodes nodes.json",
            "strandline sync --nodes nodes.json --requests ask.jsonl",
            "strandline sync --nodes nodes.json --answer ask.jsonl --out answers.jsonl",
        ),
    )(_sync)


def _sync(
    call: Invocation,
    source: Source = None,
    to: Target = None,
    dry_run: DryRun = False,
    requests: Requests = None,
    answer: Answer = None,
    out: Out = None,
) -> Result:
    """Copy missing records from another lake, or append to local journals what peers name.

    With --from LAKE only the records that this lake lacks are read, and they are verified like any input. With
    --nodes FILE local journals continue, and requests and answers are exchanged as files.
    """
    if source is not None:
        if requests is not None or answer is not None or out is not None:
            raise UsageError(
                "SYNC_OPTIONS",
                "--from copies from a lake; --requests and --answer exchange files with peers",
                "run sync once for each",
            )
        return _from_lake(call, source, to, dry_run)
    sticky = {option.name for info in infos().values() for option in info.sticky_options}
    alone = {"--to": to is not None, "--dry-run": dry_run}
    alone |= {f"--{name}": True for name in call.options.of_dialects if name in sticky}
    for option, given in alone.items():
        if given:
            raise _needs_from(option)
    return _by_files(call, requests, answer, out)


def _needs_from(option: str) -> UsageError:
    return UsageError("OPTION_ALONE", f"{option} needs --from", "add --from with the lake to copy from")


def _from_lake(call: Invocation, source: str, to: str | None, dry_run: bool) -> Result:
    if to is not None:
        call = call.on(Location.named(to))
    other, options = Location.named(source), read_dialect_options(call, names())
    from strandline.pipelines import sync_lakes

    sync_lakes.check_two(call.location, other)
    check_place(other, makes=False)
    check_logs(other)
    with call.progress() as progress:
        settings, store = call.settings, call.store(from_scheme=other.scheme())
        request = sync_lakes.SyncLakesRequest(
            dry_run, options.parsed, options.files, settings.limits.walk_entries
        )
        report = sync_lakes.run(store, store.at(other), every(), request, settings, call.context(progress))
    return Result(report, lambda console: show.sync_lakes(console, report))


def _by_files(call: Invocation, requests: Path | None, answer: Path | None, out: Path | None) -> Result:
    if (answer is None) != (out is None) or (answer is not None and requests is not None):
        raise UsageError(
            "SYNC_OPTIONS",
            "--answer and --out need each other and exclude --requests",
            "answer requests in a separate run: `strandline sync --nodes nodes.json --answer IN --out OUT`",
        )
    if answer is not None and not answer.is_file():
        raise UsageError("SOURCE_MISSING", f"there is no file {answer}", "name the file of the requests")
    parsed = read_dialect_options(call, names()).parsed
    from strandline.dialect_api.journals import journal_writer
    from strandline.pipelines import sync_journals
    from strandline.tables import newfile

    writing = [name for name, options in parsed.items() if journal_writer(dialect_named(name), options)]
    if len(writing) != 1:
        raise sync_journals.nodes_missing()
    [name] = writing
    for option in call.options.of_dialects:
        if option not in {each.name for each in infos()[name].run_options}:
            raise _needs_from(f"--{option}")
    for path in (requests, out):
        if path is not None:
            newfile.check_place(path)
    options = parsed[name]
    asked = None
    if answer is not None and out is not None:
        asked = sync_journals.AnswerRequest(
            options, answer.absolute(), out.absolute(), call.settings.limits.answer_lines
        )
    with call.progress() as progress:
        writes = asked is None
        store, context = call.store(makes=writes, writes=writes), call.context(progress)
        if asked is not None:
            report = sync_journals.answer(store, dialect_named(name), asked, context)
        else:
            request = sync_journals.SyncRequest(
                options,
                None if requests is None else requests.absolute(),
                call.settings.limits.walk_entries,
            )
            report = sync_journals.run(store, dialect_named(name), request, call.settings, context)
    return Result(report, lambda console: show.sync(console, report))
