"""A command that ends at a fault point, as if it had been killed there."""

from strandline.pipelines.faults import Faults


class KilledError(Exception):
    """What a test raises in the place of a kill."""


def kill() -> None:
    """End the command here."""
    raise KilledError


def killed_at(point: str, nth: int = 1) -> Faults:
    """The fault points of a command that ends at the `nth` visit of one."""
    return Faults(point, nth, kill)
