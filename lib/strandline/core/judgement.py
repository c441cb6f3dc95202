"""What references say of records: the verdict on one, rows of quarantine, and the counts of a run."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from strandline.core.verdict import Evidence, Finding, JsonValue, evidence_of, reasons_of

Status: TypeAlias = Literal["accepted", "rejected", "deferred"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one record. `waits_for` is ascending and empty unless deferred."""

    status: Status
    findings: tuple[Finding, ...] = ()
    waits_for: tuple[str, ...] = ()

    @property
    def reasons(self) -> tuple[str, ...]:
        """The distinct reasons, ascending."""
        return reasons_of(self.findings)

    @property
    def evidence(self) -> dict[str, JsonValue]:
        """The evidence by reason."""
        return evidence_of(self.findings)


@dataclass(frozen=True, slots=True)
class QuarantineRow:
    """A rejected or deferred record. `raw` is its one encoding, or its bytes in the file if it is no record."""

    status: Status
    reasons: tuple[str, ...]
    raw: bytes
    namespace: str | None
    record_id: bytes | None
    waits_for: tuple[str, ...]
    evidence: Evidence


@dataclass(slots=True)
class Counts:
    """The counts of one run: read = new + known + rejected + deferred; `readmitted` is not part of this sum."""

    read: int = 0
    new: int = 0
    known: int = 0
    rejected: int = 0
    deferred: int = 0
    readmitted: int = 0
