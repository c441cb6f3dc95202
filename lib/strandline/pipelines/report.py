"""The report of a command: printed, and stored as a row of the table `run`."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from html import escape
from typing import Any, Literal

from strandline.core.errors import StrandlineError
from strandline.pipelines.spooled import SpooledRows

Outcome = Literal["ok", "found", "usage", "fault"]
EXIT_CODES: Mapping[Outcome, int] = {"ok": 0, "found": 1, "usage": 2, "fault": 3}

# The members that every report has, in the order in which they are printed. They are never renamed.
MEMBERS = (
    "command", "run_id", "outcome", "exit", "seconds", "session_seconds",
    "lake", "counts", "reasons", "namespaces", "tables",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class TableChange:
    """The change of one table by a command: its last version and the number of inserted rows."""

    version: int
    inserted: int


@dataclass(frozen=True, slots=True)
class ReportError:
    """An error in a report: a code, one sentence about the fault, one about the next step."""

    code: str
    message: str
    next: str

    @staticmethod
    def of(error: StrandlineError) -> "ReportError":
        """Return code, message and next step of an error."""
        return ReportError(error.code, error.message, error.next)


@dataclass(frozen=True, slots=True)
class Report:
    """The result of one command.

    `counts` are records by verdict and other counts (`read`, `new`, `known`, `rejected`, `deferred`, `readmitted`, ..),
    `reasons` quarantine rows by reason code, `namespaces` how many of those the run touched (of a stream the most
    that one batch touched), `tables` the tables that were written; `members` are further members of this command, with
    names that no report shares. `seconds` is the time of the whole command, `session_seconds` the part of it that the
    start of Spark took. `read_versions` are the versions of tables that the run read; they are in the table `run` and
    not printed.
    """

    command: str
    run_id: str
    outcome: Outcome = "ok"
    exit: int = 0
    seconds: float = 0.0
    session_seconds: float = 0.0
    lake: str | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    reasons: Mapping[str, int] = field(default_factory=dict)
    namespaces: int = 0
    tables: Mapping[str, TableChange] = field(default_factory=dict)
    error: ReportError | None = None
    members: Mapping[str, Any] = field(default_factory=dict)
    read_versions: Mapping[str, int] = field(default_factory=dict)

    def as_object(self) -> dict[str, Any]:
        """Return the report as JSON values, shared members first.

        Raises: ValueError if `members` would hide a shared member.
        """
        shared: dict[str, Any] = {
            "command": self.command,
            "run_id": self.run_id,
            "outcome": self.outcome,
            "exit": self.exit,
            "seconds": round(self.seconds, 3),
            "session_seconds": round(self.session_seconds, 3),
            "lake": self.lake,
            "counts": dict(self.counts),
            "reasons": dict(self.reasons),
            "namespaces": self.namespaces,
            "tables": {
                name: {"version": change.version, "inserted": change.inserted}
                for name, change in self.tables.items()
            },
        }
        if self.error is not None:
            shared["error"] = {
                "code": self.error.code,
                "message": self.error.message,
                "next": self.error.next,
            }
        hidden = sorted(set(self.members) & ({*MEMBERS, "error"}))
        if hidden:
            raise ValueError(f"members of a command have names of shared members: {hidden}")
        return shared | dict(self.members)

    def __repr__(self) -> str:
        """Return one line: outcome, time, counts and reasons that are not 0, the lake, the error."""
        parts = [
            f"{self.outcome} (exit code {self.exit}) in {self.seconds:.1f} s",
            *(_listed(each) for each in (self.counts, self.reasons) if any(each.values())),
            f"lake {self.lake!r}",
        ]
        if self.error is not None:
            parts.append(f"{self.error.code}: {self.error.message!r} {self.error.next!r}")
        return f"<{self.command}: {'; '.join(parts)}>"

    def _repr_html_(self) -> str:
        """Return the report as a table, for notebooks."""
        shown = {
            "lake": self.lake, "outcome": f"{self.outcome} (exit code {self.exit})", "seconds": f"{self.seconds:.1f}",
            **{name: f"{count:,}" for name, count in self.counts.items() if count},
            **{code: f"{count:,}" for code, count in self.reasons.items()},
        }  # fmt: skip
        if self.error is not None:
            shown["error"] = f"{self.error.message} {self.error.next}"
        rows = "".join(
            f"<tr><th>{escape(str(name))}</th><td>{escape(str(value))}</td></tr>"
            for name, value in shown.items()
        )
        return f"<table><caption>{escape(self.command)}</caption>{rows}</table>"

    def json_parts(self) -> Iterator[str]:
        """Yield the parts of the report as one JSON object on one line, in ASCII, without control characters."""
        between = "{"
        for name, value in self.as_object().items():
            yield f"{between}{_json(name)}:"
            between = ","
            if isinstance(value, SpooledRows):
                yield "["
                for at, text in enumerate(value.json_texts()):
                    yield f",{text}" if at else text
                yield "]"
            else:
                yield _json(value)
        yield "}"

    def to_json(self) -> str:
        """Return the parts of `json_parts` as one text."""
        return "".join(self.json_parts())


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items() if count)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def utc_text(at: datetime) -> str:
    """Return `2026-01-31T09:30:00.123456Z`; a time without a zone is UTC."""
    aware = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    return aware.isoformat().replace("+00:00", "Z")


def as_json(value: Any) -> Any:
    """Return a stored value as JSON has it: bytes as hex, a time as `utc_text`, a sequence as a list."""
    if isinstance(value, bytes | bytearray):
        return bytes(value).hex()
    if isinstance(value, datetime):
        return utc_text(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [as_json(each) for each in value]
    return value


@dataclass(frozen=True, slots=True)
class SomeNamespaces:
    """The names of some namespaces, ascending, and the number of all that they stand for."""

    names: tuple[str, ...]
    total: int


def found_members(name: str, found: Mapping[str, SomeNamespaces]) -> dict[str, Any]:
    """Return the member `name` of a report, which names some namespaces by table, and `NAME_total` with all numbers."""
    return {
        name: {table: list(each.names) for table, each in found.items()},
        f"{name}_total": {table: each.total for table, each in found.items()},
    }
