"""Runs a target on mutated inputs, and writes what it finds as a case that the quick tests read again."""

import hashlib
import time
from pathlib import Path
from random import Random

from fuzz.mutations import mutated
from fuzz.targets import TARGETS

CASES = Path(__file__).parents[1] / "vectors" / "fuzz"
ROUND = 50
"""Inputs that are tried before time is looked at."""


class Found(Exception):  # noqa: N818 - what fuzzing looks for
    """Bytes that a target does not pass, and a smaller piece of them that it does not pass either."""

    def __init__(self, target: str, raw: bytes) -> None:
        super().__init__(f"{target} does not pass {len(raw)} bytes: {raw[:200]!r}")
        self.target = target
        self.raw = raw


def tried(target: str, inputs: int, chance: Random) -> int:
    """Try mutated inputs, the same for the same chance, and return how many.

    Raises:
        Found: one does not pass; its cause is the error.
    """
    corpus = TARGETS[target].corpus()
    for _ in range(inputs):
        raw = mutated(chance, corpus)
        error = error_of(target, raw)
        if error is not None:
            small = shrunk(target, raw, type(error))
            raise Found(target, small) from error_of(target, small)
    return inputs


def tried_for(target: str, seconds: float, chance: Random) -> int:
    """Try inputs for some seconds and return how many. Raises: as `tried`."""
    end, count = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        count += tried(target, ROUND, chance)
    return count


def error_of(target: str, raw: bytes) -> Exception | None:
    """Return why a target does not pass some bytes, None if it does."""
    try:
        TARGETS[target].check(raw)
    except Exception as error:  # noqa: BLE001  whatever it is, it is what is looked for
        return error
    return None


def shrunk(target: str, raw: bytes, kind: type[Exception]) -> bytes:
    """Return the bytes without each piece that the error does not need: halves first, single bytes last."""
    size = len(raw)
    while size:
        at = 0
        while at < len(raw):
            smaller = raw[:at] + raw[at + size :]
            if isinstance(error_of(target, smaller), kind):
                raw = smaller
            else:
                at += size
        size //= 2
    return raw


def case_path(found: Found) -> Path:
    """Where a finding is kept: under its target, named by its digest."""
    return CASES / found.target / (hashlib.sha256(found.raw).hexdigest()[:16] + ".bin")


def keep(found: Found) -> Path:
    """Write a finding beside the others and return its path."""
    path = case_path(found)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(found.raw)
    return path
