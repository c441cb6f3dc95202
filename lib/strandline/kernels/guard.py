"""The guard of kernels: an internal fault affects only one record, which waits for corrected rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeVar

from strandline.contracts.reasons import rules_version
from strandline.core.verdict import Evidence, internal_error
from strandline.kernels.codecs import StreamDamage

T = TypeVar("T")

INTERNAL_ERROR: Final = "INTERNAL_ERROR"
FAULTS: Final = (INTERNAL_ERROR, "LIBRARY_DISAGREEMENT")
"""Reasons that are not faults of the record: with them the run ends with exit code 3."""

NEXT_RULES: Final = f"rules:{rules_version() + 1}"
"""What a record waits for after an internal fault: corrected rules."""


def guarded(judge: Callable[[], T], at_fault: Callable[[Evidence], T]) -> T:
    """Return the result of `judge`; if it raises, that of `at_fault` with the evidence of the exception."""
    try:
        return judge()
    except Exception as error:  # noqa: BLE001  a bug must not stop the job: the record waits for corrected rules
        return at_fault(internal_error(error))


def guarded_rows(rows: Iterator[T], at_fault: Callable[[Evidence], Iterator[T]]) -> Iterator[T]:
    """Yield rows; if their maker raises, then those of `at_fault` with the evidence of the exception."""
    try:
        yield from rows
    except Exception as error:  # noqa: BLE001  a bug must not stop the job: the records wait for corrected rules
        yield from at_fault(internal_error(error))


def guarded_steps(steps: Iterator[None], at_fault: Callable[[Evidence], None]) -> Iterator[None]:
    """Yield at each step of a reader; if it raises, call `at_fault` with the evidence and yield once more.

    A StreamDamage is not an internal fault and is raised further.
    """
    try:
        yield from steps
    except StreamDamage:
        raise
    except Exception as error:  # noqa: BLE001  a bug must not stop the job: the file waits for corrected rules
        at_fault(internal_error(error))
        yield


def with_format(evidence: Evidence, form: str | None) -> Evidence:
    """Return the evidence of a fault with the format of the file: a replay has no file name."""
    return {code: {**each, "format": form} for code, each in evidence.items() if isinstance(each, Mapping)}
