"""What a check found: a reason code with its evidence, and the one spelling in which evidence is stored."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

JsonValue: TypeAlias = bool | int | float | str | Sequence["JsonValue"] | Mapping[str, "JsonValue"] | None
Evidence: TypeAlias = Mapping[str, JsonValue]

MAX_EVIDENCE_BYTES = 16 * 1024
MAX_TEXT_CHARS = 200
CUT = ".. (cut)"


@dataclass(frozen=True, slots=True)
class Finding:
    """One reason that applies to a record, with what was expected and what was found."""

    reason: str
    evidence: Evidence


def reasons_of(findings: Iterable[Finding]) -> tuple[str, ...]:
    """Return the distinct reasons, ascending."""
    return tuple(sorted({finding.reason for finding in findings}))


def evidence_of(findings: Iterable[Finding]) -> dict[str, JsonValue]:
    """Return the evidence by reason, in ascending order of reasons; of one reason twice the first stays."""
    by_reason: dict[str, JsonValue] = {}
    for finding in findings:
        by_reason.setdefault(finding.reason, finding.evidence)
    return dict(sorted(by_reason.items()))


def encode_evidence(evidence: Evidence) -> str:
    """Return evidence as it is stored: JSON, keys sorted, compact, ASCII.

    One spelling, so that equal evidence is equal text on every machine. It holds at most `MAX_EVIDENCE_BYTES`
    when each text went through `shown`: a character takes at most 12 bytes, and no evidence has six texts.
    """
    return json.dumps(evidence, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def internal_error(error: BaseException) -> Evidence:
    """Return the evidence of our own fault: class and place, never its message, which may hold data."""
    place, trace = "unknown", error.__traceback__
    while trace is not None:
        name = trace.tb_frame.f_globals.get("__name__", "?")
        place, trace = f"{name}:{trace.tb_lineno}", trace.tb_next
    return {"INTERNAL_ERROR": {"class": type(error).__qualname__, "place": place}}


def shown(text: str | bytes) -> str:
    """Return untrusted text as evidence may hold it: at most `MAX_TEXT_CHARS` characters, a cut marked.

    Bytes are read as UTF-8; what is not UTF-8 becomes `\\xNN`. A lone surrogate stays, JSON escapes it.
    """
    head = text[: MAX_TEXT_CHARS + 1]
    if isinstance(head, bytes):
        # A character may be cut in the middle here: its bytes show as \xNN, the cut is marked all the same.
        decoded = head[:MAX_TEXT_CHARS].decode("utf-8", "backslashreplace")
    else:
        decoded = head[:MAX_TEXT_CHARS]
    return decoded + CUT if len(head) > MAX_TEXT_CHARS else decoded
