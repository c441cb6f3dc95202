"""The command `stream`."""

import re
from functools import partial
from typing import Annotated

import typer

from strandline.cli import show
from strandline.cli.command import Result, command
from strandline.cli.dialect_options import read_dialect_options
from strandline.cli.given import DialectName, FormatName, file_of_option, known_dialect
from strandline.cli.invocation import Invocation
from strandline.core.errors import UsageError
from strandline.dialects import dialect as dialect_named
from strandline.dialects import infos

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}

_DURATION = re.compile(r"([0-9]{1,6})(ms|s|m|h)")

Source = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help="The folder to watch, a prefix of a store (s3://, gs://, abfss://, hdfs://) or a topic of Kafka "
        "(kafka://HOST:PORT/TOPIC).",
    ),
]
AvailableNow = Annotated[
    bool, typer.Option("--available-now", help="Ingest what exists now, batch by batch, and exit.")
]
Every = Annotated[
    str | None,
    typer.Option(
        "--every", metavar="TIME", help="Check for input at this interval until stopped: 30s, 5m, 1h."
    ),
]
MaxFiles = Annotated[
    int | None,
    typer.Option(
        "--max-files", metavar="N", min=1, max=2**31 - 1, help="Maximum number of files in a batch."
    ),
]
MaxRecords = Annotated[
    int | None,
    typer.Option(
        "--max-records", metavar="N", min=1, help="Maximum number of messages in a batch of a topic."
    ),
]
KafkaConfig = Annotated[
    str | None,
    typer.Option(
        "--kafka-config",
        metavar="FILE",
        help="A file of Kafka's client settings, for brokers with encryption or a login.",
    ),
]
Checkpoint = Annotated[
    str | None,
    typer.Option("--checkpoint", metavar="PATH", help="Folder in which the stream stores its progress."),
]


def add_to(app: typer.Typer) -> None:
    """Add the command to `app`."""
    command(
        app,
        "stream",
        panel="Load",
        examples=(
            "strandline stream landing/ --dialect sdmp --available-now",
            "strandline stream landing/ --dialect sdmp --every 30s --max-files 200 --lake /data/lake",
            "strandline stream outbox/ --dialect sdmp --every 30s --nodes nodes.json",
            "strandline stream s3://bucket/landing --dialect sdmp --every 5m --lake s3a://bucket/lake",
            "strandline stream kafka://localhost:9092/journals --dialect sdmp --every 30s --max-records 50000",
            "strandline stream kafka://b.example:9094/t --dialect sdmp --every 30s --kafka-config client.properties",
            "strandline stream logs/ --dialect ipfslog --available-now --log-config logs.json",
            "strandline stream landing/ --dialect sdmp --every 5m --schema main.logs --checkpoint /data/seen",
        ),
    )(_stream)


def _stream(
    call: Invocation,
    source: Source,
    dialect: DialectName = None,
    form: FormatName = None,
    available_now: AvailableNow = False,
    every: Every = None,
    max_files: MaxFiles = None,
    max_records: MaxRecords = None,
    checkpoint: Checkpoint = None,
    kafka_config: KafkaConfig = None,
) -> Result:
    """Follow a folder, a prefix of a store or a Kafka topic: ingest each new file or message, then reduce.

    Files must appear complete, by a rename; a message is one line of the dialect (sdmp: one frame). After a kill,
    start the same command again: it continues where it stopped, without loss or duplicates. With --every, Ctrl-C
    ends it after the current batch, a second Ctrl-C at once.
    """
    name = known_dialect(dialect, "stream")
    if available_now == (every is not None):
        raise UsageError(
            "TRIGGER_MISSING" if every is None else "TRIGGERS_TWO",
            "stream needs exactly one of --available-now and --every",
            "add --available-now to ingest existing input and exit, or --every 30s to continue",
        )
    seconds = None if every is None else _seconds(every)
    options = read_dialect_options(call, (name,))
    from strandline.pipelines import stream
    from strandline.session import is_hosted
    from strandline.tables.topic_brokers import check_reachable

    request = stream.StreamRequest(
        source, form, seconds, max_files, max_records, checkpoint, options.parsed.get(name), options.files,
        None if kafka_config is None else file_of_option("kafka-config", kafka_config),
    )  # fmt: skip
    checked = stream.check_source(request, infos()[name].formats, call.location)
    if checked.topic is not None and not is_hosted(call.environ):
        check_reachable(checked.topic)
    with call.progress() as progress:
        settings = call.settings
        store = call.store(with_kafka=checked.topic is not None, source_scheme=checked.scheme)
        context = call.context(progress)
        runs = partial(call.context_of, like=context)
        report = stream.run(store, dialect_named(name), request, settings, context, runs)
    return Result(report, lambda console: show.stream(console, report))


def _seconds(text: str) -> float:
    """Return the duration `text` in seconds. Raises: UsageError `DURATION_INVALID`."""
    found = _DURATION.fullmatch(text)
    if found is None or int(found[1]) == 0:
        raise UsageError(
            "DURATION_INVALID",
            f"{text!r} is not a duration",
            "write a number with ms, s, m or h, for example --every 30s",
        )
    return int(found[1]) * _SECONDS[found[2]]
