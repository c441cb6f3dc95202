"""The reports of `sync`: what nodes ask of each other, and what was copied from another lake."""

from rich.console import Console
from rich.text import Text

from strandline.cli.show.parts import (
    counts,
    frequent_reasons,
    head,
    next_commands,
    reduced_wrongly,
    stopped_writers,
)
from strandline.cli.show.rows import table
from strandline.cli.text import printable
from strandline.core.sentences import amount
from strandline.pipelines.report import Report


def sync(console: Console, report: Report) -> None:
    """Print the files of requests and answers that were written, and the writers that stopped."""
    head(console, report)
    counts(console, report)
    named, past_limit = report.members.get("refused_nodes", {}), report.members.get("refused_past_limit", 0)
    for name, requests in named.items():
        console.print(
            Text(f"refused: {printable(name)} is not a local node, {requests:,} requests", style="yellow")
        )
    # A file of requests can name any number of nodes: the first ones are in the report.
    if more := report.counts.get("refused", 0) - past_limit - sum(named.values()):
        console.print(Text(f"refused: … and {more:,} more requests to other nodes", style="yellow"))
    if past_limit:
        console.print(
            Text(f"refused: past limits.answer_lines, {past_limit:,} requests; ask again", style="yellow")
        )
    stopped_writers(console, report.members.get("stopped", {}))
    reduced_wrongly(console, report)
    for member in ("requests_file", "answers_file"):
        if member in report.members:
            console.print(Text(f"written: {printable(report.members[member])}"))
    if "requests_file" in report.members:
        next_commands(console, ("strandline status",), report)


def sync_lakes(console: Console, report: Report) -> None:
    """Print how many records are missing by namespace, and the counts of the records that were copied."""
    head(console, report)
    counts(console, report)
    plan, pruned = report.members["plan"], report.counts["pruned_there"]
    if plan:
        names = ("namespace", "dialect", "there", "here", "missing", *(("pruned_there",) if pruned else ()))
        table(console, names, [[row[name] for name in names] for row in plan])
        shown = sum(row["missing"] > 0 for row in plan)
        if shown < report.counts["behind"]:
            console.print(
                Text(f"records are missing in {amount(report.counts['behind'], 'namespace')}, {shown} shown")
            )
    if pruned:
        incomplete = amount(report.counts["incomplete"], "namespace")
        console.print(
            Text(
                f"pruned there and never here: {amount(pruned, 'record')} in {incomplete}. "
                "They cannot be copied, and what needs them waits. Files from before the collection have them."
            )
        )
    frequent_reasons(console, report)
    stopped_writers(console, report.members["stopped"])
    reduced_wrongly(console, report)
    if report.members["dry_run"]:
        console.print(Text("nothing was written: run without --dry-run to copy the missing records"))
    else:
        next_commands(console, ("strandline status",), report)
