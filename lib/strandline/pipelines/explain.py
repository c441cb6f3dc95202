"""`explain`: one reason code in words."""

from strandline.contracts.reasons import Reason, reasons
from strandline.core.errors import UsageError
from strandline.core.nearest import nearest
from strandline.pipelines.report import Report
from strandline.pipelines.run_context import RunContext


def reason(code: str) -> Reason:
    """Return the reason `code`, in upper or lower case.

    Raises: UsageError `REASON_UNKNOWN` with the nearest code, or where codes are listed: they fill a screen.
    """
    known = reasons()
    found = known.get(code.strip().upper().replace("-", "_"))
    if found is None:
        best = nearest(code, known)
        raise UsageError(
            "REASON_UNKNOWN",
            f"{code!r} is no reason code",
            f"did you mean {best}?"
            if best
            else "`strandline quarantine` shows the codes of a lake, docs/reference/reasons.md has all; an error code, "
            "as WRITE_CONFLICT, is printed with its next step",
        )
    return found


def run(code: str, context: RunContext) -> Report:
    """Return the meaning, severity and dialects of the reason `code`, and what to do. Raises: as `reason`."""
    found = reason(code)
    return context.report(
        members={
            "code": found.code,
            "outcomes": list(found.outcomes),
            "severity": found.severity,
            "dialects": list(found.dialects),
            "meaning": found.meaning,
            "advice": found.advice,
            "waits_for": found.waits_for,
            "replay": found.replay,
        },
    )
