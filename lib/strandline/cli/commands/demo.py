"""The command `demo`."""

import typer

from strandline.cli import show
from strandline.cli.command import Result, command
from strandline.cli.invocation import Invocation
from strandline.tables.location import Location


def add_to(app: typer.Typer) -> None:
    """Add the command to `app`."""
    command(app, "demo", panel="Start", tables=False, examples=("strandline demo", "strandline demo --json"))(
        _demo
    )


def _demo(call: Invocation) -> Result:
    """Ingest published journals into a new lake, demo-lake, and show the results."""
    from strandline.pipelines import demo

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
