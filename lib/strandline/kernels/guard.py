"""The one guard of kernels: a bug of ours that one record meets costs this record alone, until it is mended."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeVar

from strandline.contracts.reasons import rules_version
from strandline.core.verdict import Evidence, internal_error
from strandline.kernels.codecs import StreamDamage

T = TypeVar("T")

INTERNAL_ERROR: Final = "INTERNAL_ERROR"
FAULTS: Final = (INTERNAL_ERROR, "LIBRARY_DISAGREEMENT")
"""Reasons that are no fault of the record: the run says so by its exit code."""

NEXT_RULES: Final = f"rules:{rules_version() + 1}"
"""What a record waits for that met a fault of ours: rules in which it is mended."""


def guarded(judge: Callable[[], T], at_fault: Callable[[Evidence], T]) -> T:
    """Return what `judge` returns, or what `at_fault` makes of the evidence of the exception that it raises."""
    try:
        return judge()
    except Exception as error:  # noqa: BLE001  our own fault must not stop the job: the record waits for mended rules
        return at_fault(internal_error(error))


def guarded_steps(steps: Iterator[None], at_fault: Callable[[Evidence], None]) -> Iterator[None]:
    """Yield at each step of a reader, and once more after `at_fault` took the evidence of its exception.

    A damage of the stream goes on to who opened it: it is no fault of ours.
    """
    try:
        yield from steps
    except StreamDamage:
        raise
    except Exception as error:  # noqa: BLE001  our own fault must not stop the job: the file waits for mended rules
        at_fault(internal_error(error))
        yield
