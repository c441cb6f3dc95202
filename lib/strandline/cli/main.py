"""Runs a command: parses its options, calls it, prints one report, returns the exit code."""

import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from types import TracebackType

import typer
from rich.console import Console
from rich.text import Text

from strandline.cli.app import commands
from strandline.cli.command import Result, current
from strandline.cli.failures import as_fault, bug_lines
from strandline.cli.interrupts import Interrupted, interrupts
from strandline.cli.invocation import Invocation, Options
from strandline.cli.parser_errors import as_usage
from strandline.cli.show.parts import commands_here
from strandline.cli.streams import OutputLostError, standard_streams, to_reader
from strandline.cli.text import printable
from strandline.core.errors import StrandlineError
from strandline.core.sentences import sentence_of
from strandline.pipelines.report import Outcome, Report, ReportError


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command in `argv` (default: the arguments of this process); return the exit code.

    0 to 3 as `strandline --help` describes; 129, 130 or 143 if SIGHUP, SIGINT or SIGTERM ended it.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    current.clear()
    ending = _Ending(arguments)
    with standard_streams(), interrupts.watched(), ending:
        result = _called(arguments or ("--help",))
        if isinstance(result, Result):
            ending.exit, ending.has_begun_to_print = result.report.exit, True
            _print(result, ending.as_json)
            ending.tell_others(result.report)
        else:
            ending.exit = result
    return ending.exit


def _called(arguments: Sequence[str]) -> Result | int:
    """Call the command in `arguments`; return its result, or the exit code of an option such as --help.

    Errors reach the caller. typer's own `main` would end the process with 1, a finding, after any broken pipe.
    Raises: Interrupted for a KeyboardInterrupt, which pyspark may raise at its start.
    """
    try:
        with commands().make_context("strandline", list(arguments)) as context:
            result: Result = commands().invoke(context)
            return result
    except typer.Exit as ended:
        return ended.exit_code
    except KeyboardInterrupt:
        raise Interrupted(signal.SIGINT) from None


class _Output(Console):
    """Standard output for people."""

    def on_broken_pipe(self) -> None:
        """Let the caller know; rich would end the process with exit code 1, which is a finding."""
        raise BrokenPipeError


def _print(result: Result, as_json: bool) -> None:
    """Print a result on standard output."""
    with to_reader():
        if as_json:
            sys.stdout.writelines(result.report.json_parts())
            sys.stdout.write("\n")
        else:
            result.show(_Output(soft_wrap=True, highlight=False, markup=False))
        sys.stdout.flush()


def tell_others(report: Report) -> None:
    """Send the end to OpenLineage and write the file of --metrics; what fails is a warning, the exit code stays."""
    if not current:
        return
    call = current[0]
    call.lineage.ended(call, report)
    if call.lineage.warning is not None:
        sys.stderr.write(f"warning: no lineage was sent: {call.lineage.warning}\n")
    _write_metrics(call, report)


def _write_metrics(call: Invocation, report: Report) -> None:
    path = call.options.metrics
    if path is not None:
        from strandline.cli.metrics import write_metrics

        why = write_metrics(path, report)
        if why is not None:
            sys.stderr.write(printable(f"warning: the metrics file {path} cannot be written: {why}") + "\n")


class _Ending:
    """Turns an exception that ends a command into a message, a report and an exit code.

    A context manager sees every exception without a blind `except`. Only a bug is shown with its traceback.
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        before_end = arguments[: arguments.index("--")] if "--" in arguments else arguments
        self.as_json = "--json" in before_end
        self.exit = 0
        self.has_begun_to_print = False
        """Whether a result is on standard output, perhaps in part: a second report would follow a broken line."""
        self._arguments = before_end

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        """Report `error`; return True if it was reported."""
        if error is None:
            return False
        if isinstance(error, SystemExit | GeneratorExit):
            return False
        # After a signal ended Spark, the running step fails with an error of its own: the signal is the cause.
        ended_by = interrupts.ended_by or (error if isinstance(error, Interrupted) else None)
        if ended_by is not None:
            self.exit = ended_by.exit_code
            self._print_interrupted()
            return True
        log = _log()
        known = (
            as_usage(error, self._command())
            if isinstance(error, typer.TyperException)
            else as_fault(error, log, _lake())
        )
        if known is not None:
            self.exit = known.exit_code
            self._print_error(known)
            return True
        self.exit = 3
        for line in bug_lines(error, log, version("strandline")):
            sys.stderr.write(line + "\n")
        self._end(
            ReportError(
                "BUG", f"{type(error).__name__}: {error}", "report it with the traceback on standard error"
            )
        )
        return True

    def tell_others(self, report: Report) -> None:
        """Tell others of `report`, which was printed; a signal meanwhile changes only the exit code and the metrics."""
        try:
            tell_others(report)
        except Interrupted as interrupted:
            self.exit = interrupted.exit_code
            _write_metrics(current[0], replace(report, exit=self.exit))

    def _print_interrupted(self) -> None:
        error = ReportError(
            "INTERRUPTED", "The command was interrupted.", "Run it again: nothing is lost or duplicated."
        )
        self._end(error)
        if not self.as_json or self.has_begun_to_print:
            sys.stderr.write("The command was interrupted; run it again: nothing is lost or duplicated.\n")

    def _print_error(self, error: StrandlineError) -> None:
        lake = _lake()
        advice = error.next if lake is None else commands_here(error.next, lake)
        message, step = (printable(sentence_of(text)) for text in (error.message, advice))
        self._end(ReportError(error.code, message, step))
        if not self.as_json or self.has_begun_to_print:
            self._tell(message, step)

    def _tell(self, message: str, step: str) -> None:
        console = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)
        for word, style, text in (("error", "bold red", message), ("next", "bold", step)):
            if text:
                console.print(Text.assemble((f"{word}:", style), " ", text))

    def _end(self, error: ReportError) -> None:
        """Make the report of a failed command, print it with --json, and tell others."""
        if not current:
            current.append(Invocation(self._command(), Options(metrics=self._metrics())))
        call = current[0]
        outcome: Outcome = "usage" if self.exit == 2 else "fault"
        report = Report(
            command=call.command,
            run_id=call.run_id,
            outcome=outcome,
            exit=self.exit,
            seconds=call.elapsed(),
            session_seconds=call.session_seconds,
            lake=_lake(),
            error=error,
        )
        if self.as_json and not self.has_begun_to_print:
            try:
                with to_reader():
                    sys.stdout.write(report.to_json() + "\n")
                    sys.stdout.flush()
            except OutputLostError as lost:
                # A terminal that was closed takes no report: the signal stays the cause.
                if interrupts.ended_by is None:
                    self.exit = lost.exit_code
                self._tell(printable(sentence_of(lost.message)), printable(sentence_of(lost.next)))
            except Interrupted as interrupted:
                self.exit = interrupted.exit_code
                report = replace(report, exit=self.exit)
        self.tell_others(report)

    def _command(self) -> str:
        words = [word for word in self._arguments if not word.startswith("-")]
        return words[0] if words else ""

    def _metrics(self) -> Path | None:
        """Return the file of --metrics as typed: the parser may have refused another option."""
        given = ""
        for word, following in pairwise([*self._arguments, ""]):
            name, equals, value = word.partition("=")
            if name == "--metrics":
                given = value if equals else following
        return Path(given) if given else None


def _log() -> Path | None:
    """Return the path of Spark's log, or None if the running call has not read its settings."""
    if not current or "settings" not in current[0].__dict__:
        return None
    from strandline.session import log_path

    return log_path(current[0].settings, current[0].run_id)


def _lake() -> str | None:
    """Return where the tables of the running call are, or None if that is not known yet."""
    return current[0].location.describe() if current and "location" in current[0].__dict__ else None
