"""Fault points: named places at which a test kills the process."""

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass, field

from strandline.core.errors import UsageError


def kill_self() -> None:
    """Send SIGKILL to this process, as a crash would."""
    os.kill(os.getpid(), signal.SIGKILL)


@dataclass(slots=True)
class Faults:
    """The fault points of one command; without an armed point they do nothing.

    `point` is the armed point, `nth` the visit that fires, `fire` the action, which a test can replace.
    """

    point: str | None = None
    nth: int = 1
    fire: Callable[[], None] = kill_self
    _visits: int = field(default=0, init=False)

    @staticmethod
    def parse(text: str | None) -> "Faults":
        """Return the fault points that `STRANDLINE_FAULT=<point>[:n]` arms; none for None or an empty text.

        Raises: UsageError `FAULT_INVALID` if n is not an integer of at least 1.
        """
        if not text:
            return Faults()
        point, _, count = text.partition(":")
        if count and not (count.isascii() and count.isdigit() and int(count) >= 1):
            raise UsageError(
                "FAULT_INVALID",
                f"STRANDLINE_FAULT={text!r} is not <point>[:n]",
                "unset STRANDLINE_FAULT; it is for tests",
            )
        return Faults(point, int(count or 1))

    def reach(self, point: str) -> None:
        """Fire if `point` is armed and this is its nth visit."""
        if point != self.point:
            return
        self._visits += 1
        if self._visits == self.nth:
            self.fire()
