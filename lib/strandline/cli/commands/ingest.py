"""The command `ingest`."""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Annotated

import typer

from strandline.cli import show
from strandline.cli.command import Result, command
from strandline.cli.dialect_options import read_dialect_options
from strandline.cli.given import DialectName, FormatName, known_dialect
from strandline.cli.invocation import Invocation
from strandline.contracts.reasons import Reason as ReasonCode
from strandline.core.errors import UsageError
from strandline.dialects import BUILT_IN
from strandline.dialects import dialect as dialect_named

Sources = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[SOURCE]...",
        help="Files, folders, globs; s3://, gs://, abfss:// and hdfs:// URIs.",
    ),
]
FailOnReject = Annotated[bool, typer.Option("--fail-on-reject", help="Exit code 1 if a record was rejected.")]
RequireManifest = Annotated[
    bool,
    typer.Option(
        "--require-manifest", help="Refuse files that no delivery manifest names, before reading them."
    ),
]
FromQuarantine = Annotated[
    bool,
    typer.Option(
        "--from-quarantine",
        help="Judge again, by the rules of this version, records that were rejected, or that wait because of a bug of "
        "an older version.",
    ),
]
Reason = Annotated[
    str | None,
    typer.Option("--reason", metavar="CODE", help="With --from-quarantine: only records with this reason."),
]
OneNamespace = Annotated[
    str | None,
    typer.Option(
        "--namespace", metavar="NAME", help="With --from-quarantine: only records of this namespace."
    ),
]
DropRejectedBefore = Annotated[
    str | None,
    typer.Option(
        "--drop-rejected-before",
        metavar="DATE",
        help="Delete rejected records last seen before this date (UTC).",
    ),
]


def add_to(app: typer.Typer) -> None:
    """Add the command to `app`."""
    command(
        app,
        "ingest",
        panel="Load",
        recorded=True,
        examples=(
            "strandline ingest dump/ --dialect sdmp",
            "strandline ingest 'dump/*.jsonl.gz' more.journal --dialect sdmp --lake /data/lake",
            "strandline ingest feed/ --dialect sdmp --require-manifest --fail-on-reject --json",
            "strandline ingest --from-quarantine --reason DEFERRED_LIMIT --dialect sdmp",
            "strandline ingest --drop-rejected-before 2026-01-31 --dialect sdmp",
            "strandline ingest logs/ blocks.car --dialect ipfslog",
            "strandline ingest dump.txt --format lines --dialect ipfslog",
            "strandline ingest outbox/ --dialect sdmp --nodes nodes.json",
        ),
    )(_ingest)


def _ingest(
    call: Invocation,
    sources: Sources = None,
    dialect: DialectName = None,
    form: FormatName = None,
    fail_on_reject: FailOnReject = False,
    require_manifest: RequireManifest = False,
    from_quarantine: FromQuarantine = False,
    reason: Reason = None,
    namespace: OneNamespace = None,
    drop_rejected_before: DropRejectedBefore = None,
) -> Result:
    """Read files, verify every record and insert the genuine ones; all others go to the quarantine.

    Rejected records are a result, not a failure: the exit code is 0 unless --fail-on-reject is given.
    """
    from strandline.pipelines.explain import reason as reason_named

    given = tuple(sources or ())
    name = known_dialect(dialect, "ingest")
    options = read_dialect_options(call, (name,)).parsed.get(name)
    if not given and not from_quarantine and drop_rejected_before is None and options is None:
        raise UsageError(
            "SOURCE_MISSING",
            "ingest has no input",
            "name files, folders or globs, for example `strandline ingest dump/ --dialect sdmp`",
        )
    _check_quarantine_options(given, from_quarantine, {"--reason": reason, "--namespace": namespace})
    _check_files_options(
        given,
        {
            "--format": form is not None,
            "--require-manifest": require_manifest,
            "--fail-on-reject": fail_on_reject and not from_quarantine,
        },
    )
    found_reason = None if reason is None else reason_named(reason)
    if found_reason is not None:
        _check_reason(found_reason, name)
    code = None if found_reason is None else found_reason.code
    before = _day(drop_rejected_before) if drop_rejected_before is not None else None
    from strandline.pipelines import ingest
    from strandline.pipelines.ingest_input import IngestRequest, find_input

    request = IngestRequest(
        sources=given,
        format=form,
        fail_on_reject=fail_on_reject,
        require_manifest=require_manifest,
        from_quarantine=from_quarantine,
        reason=code,
        namespace=namespace,
        drop_rejected_before=before,
        options=options,
    )
    settings, found_dialect = call.settings, dialect_named(name)
    with call.progress() as progress:
        found = find_input(found_dialect, request, settings)
        report = ingest.run(call.store(), found_dialect, request, settings, call.context(progress), found)
    chosen = {"namespace": namespace, "reason": code}
    return Result(report, lambda console: show.ingest(console, report, chosen))


def _check_quarantine_options(
    sources: tuple[str, ...], from_quarantine: bool, selection: Mapping[str, str | None]
) -> None:
    """Check that sources and --from-quarantine exclude each other, and that the options of `selection` come with it.

    Raises: UsageError SOURCE_AND_QUARANTINE, OPTION_ALONE.
    """
    if sources and from_quarantine:
        raise UsageError(
            "SOURCE_AND_QUARANTINE",
            "--from-quarantine reads no files",
            "leave out the sources, or run ingest twice",
        )
    for option, value in selection.items():
        if value is not None and not from_quarantine:
            raise UsageError(
                "OPTION_ALONE", f"{option} selects records of the quarantine", "add --from-quarantine"
            )


def _check_files_options(sources: tuple[str, ...], given: Mapping[str, bool]) -> None:
    """Check that options about what files hold come with files. Raises: UsageError OPTION_ALONE."""
    for option, is_given in given.items():
        if is_given and not sources:
            raise UsageError(
                "OPTION_ALONE",
                f"{option} is about sources, and there is none",
                f"name sources, or leave out {option}",
            )


def _check_reason(reason: ReasonCode, dialect: str) -> None:
    """Check that rejected records of a dialect can have a reason and are judged again.

    Dialects of other packages may use each reason. Raises: UsageError REASON_NOT_REPLAYED, DIALECTS_DIFFER.
    """
    from strandline.pipelines.quarantine_writer import WITHOUT_CONTENT

    if reason.code in WITHOUT_CONTENT or not {"rejected", "deferred"} & set(reason.outcomes):
        raise UsageError(
            "REASON_NOT_REPLAYED",
            f"quarantine has no bytes of a record with the reason {reason.code}, so nothing is judged again",
            f"`strandline explain {reason.code}` says what to do instead",
        )
    if dialect in {entry.name for entry in BUILT_IN} and not {"all", dialect} & set(reason.dialects):
        raise UsageError(
            "DIALECTS_DIFFER",
            f"{reason.code} is a reason of {', '.join(reason.dialects)}, not of {dialect}",
            f"add --dialect {reason.dialects[0]} instead of --dialect {dialect}",
        )


def _day(text: str) -> datetime:
    """Return the start, in UTC, of the date `text`. Raises: UsageError `DATE_INVALID`."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise UsageError(
            "DATE_INVALID",
            f"{text!r} is not a date",
            "write year-month-day, for example --drop-rejected-before 2026-01-31",
        ) from None
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
