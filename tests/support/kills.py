"""A command that ends at a fault point, as if it had been killed there."""

from strandline.pipelines.faults import Faults


class KilledError(BaseException):
    """What a test raises in the place of a kill: no handler of errors may run on behind it."""


class KilledBatchError(Exception):
    """The same within a batch of a stream: py4j tells Java of no other, and the stream would wait for ever."""


def kill() -> None:
    """End the command here."""
    raise KilledError


def kill_batch() -> None:
    """End the batch of a stream here, and with it the stream."""
    raise KilledBatchError


def killed_at(point: str, nth: int = 1) -> Faults:
    """The fault points of a command that ends at the `nth` visit of one."""
    return Faults(point, nth, kill)


def batch_killed_at(point: str) -> Faults:
    """The fault points of a stream that ends at the first visit of one."""
    return Faults(point, 1, kill_batch)
