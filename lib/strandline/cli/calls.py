"""Calls commands from Python, as the methods of `Lake` do: a report is returned, an error raised, nothing printed."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from strandline.cli.command import current, functions
from strandline.cli.failures import as_fault
from strandline.cli.invocation import Invocation, Options
from strandline.cli.main import tell_others
from strandline.core.errors import StrandlineError, UsageError
from strandline.core.nearest import did_you_mean
from strandline.pipelines.report import Report, ReportError
from strandline.tables.location import Location

if TYPE_CHECKING:
    from strandline.tables.store import TableStore

_SET_BY_THE_LAKE = {"lake", "schema", "set_value", "quiet", "as_json"}
"""Options that a call gives no command: they are the lake's, or change only what is printed."""


class LakeCalls:
    """The commands as functions of one lake and its settings."""

    def __init__(self, location: Location, settings: Mapping[str, object]) -> None:
        self._location = location
        self._set = [f"{name}={_text(value)}" for name, value in settings.items()]

    def run(self, name: str, values: Mapping[str, Any], *, keywords: set[str]) -> Report:
        """Return the report of a command; `values` are its options, `keywords` those that its caller names.

        Raises: UsageError `OPTION_UNKNOWN`, what the command prints as an error.
        """
        function = functions[name]
        known = inspect.signature(function).parameters
        for option in values:
            if option not in known:
                names = keywords | (known.keys() - values.keys() - _SET_BY_THE_LAKE)
                raise UsageError(
                    "OPTION_UNKNOWN", f"{name} has no option {option}", did_you_mean(option, names)
                )
        typed = {option: _as_typed(value, known[option].annotation) for option, value in values.items()}
        with self._reported_errors(name):
            result = function(**typed, **self._where(), quiet=True, set_value=self._set)
        tell_others(result.report)
        return result.report

    def store(self) -> TableStore:
        """Return the tables through Spark. Raises: as `strandline sql` about a lake that it cannot read."""
        from strandline.tables.lake import check_there

        where = self._where()
        call = Invocation(
            "open", Options(lake=where.get("lake"), schema=where.get("schema"), settings=tuple(self._set))
        )
        store = call.store(makes=False, writes=False)
        check_there(store)
        return store

    def _where(self) -> dict[str, str]:
        return {"lake" if self._location.is_path() else "schema": self._location.describe()}

    @contextmanager
    def _reported_errors(self, name: str) -> Iterator[None]:
        """Raise errors of the environment as `StrandlineError`, and tell the server of lineage that the run failed."""
        current.clear()
        try:
            yield
        except Exception as error:
            known = as_fault(error, None, self._location.describe())
            if known is None:
                raise
            self._tell_failure(name, known)
            if known is error:
                raise
            raise known from error

    def _tell_failure(self, name: str, error: StrandlineError) -> None:
        if current:
            tell_others(
                Report(
                    name, current[0].run_id, "usage" if error.exit_code == 2 else "fault", error.exit_code,
                    lake=self._location.describe(), error=ReportError.of(error),
                )
            )  # fmt: skip


def _as_typed(value: object, annotation: object) -> object:
    """Return a path as the parser would: a Path if the option is one, else a text. Other values stay."""
    if not isinstance(value, os.PathLike):
        return value
    kind = next(iter(get_args(annotation)), None)
    return Path(value) if Path in (kind, *get_args(kind)) else _text(value)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)
