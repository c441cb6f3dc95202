"""Findings of checks: reason codes with evidence, and the encoding of stored evidence."""

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
    """Return the evidence by reason, in ascending order of reasons; of a repeated reason the first one."""
    by_reason: dict[str, JsonValue] = {}
    for finding in findings:
        by_reason.setdefault(finding.reason, finding.evidence)
    return dict(sorted(by_reason.items()))


def encode_evidence(evidence: Evidence) -> str:
    """Return evidence in its stored form: compact JSON, sorted keys, ASCII.

    Equal evidence is equal text on every machine. It takes at most `MAX_EVIDENCE_BYTES` if each text is from `shown`: a
    character takes at most 12 bytes, and no evidence has six texts.
    """
    return json.dumps(evidence, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def internal_error(error: BaseException) -> Evidence:
    """Return the evidence of an internal fault: class and place, never its message, which may contain data."""
    place, trace = "unknown", error.__traceback__
    while trace is not None:
        name = trace.tb_frame.f_globals.get("__name__", "?")
        place, trace = f"{name}:{trace.tb_lineno}", trace.tb_next
    return {"INTERNAL_ERROR": {"class": type(error).__qualname__, "place": place}}


def shown(text: str | bytes) -> str:
    """Return untrusted text in the form for evidence: at most `MAX_TEXT_CHARS` characters, a cut is marked.

    Bytes are decoded as UTF-8; other bytes become `\\xNN`. A lone surrogate stays: JSON escapes it.
    """
    head = text[: MAX_TEXT_CHARS + 1]
    if isinstance(head, bytes):
        # The cut may be inside a character: its bytes become \xNN, and the cut is still marked.
        decoded = head[:MAX_TEXT_CHARS].decode("utf-8", "backslashreplace")
    else:
        decoded = head[:MAX_TEXT_CHARS]
    return decoded + CUT if len(head) > MAX_TEXT_CHARS else decoded
