"""The hash of a state: two replicas with equal entries have equal hashes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from strandline.dialects.devicelog.codec import tagged_hash

STATE_TAG: Final = "strandline/devicelog/state/1"


@dataclass(frozen=True, slots=True)
class LogState:
    """What the hash states of a log with a status. `cut_seq` is None without a cut; `tips` are ids, ascending."""

    log: bytes
    status: str
    cut_seq: int | None
    cut_id: bytes | None
    forked: bool
    tips: tuple[bytes, ...]


def state_hash(policy: str, group: bytes, n: int, v_n: bytes, logs: Iterable[LogState]) -> bytes:
    """Return the hash of a state, 32 bytes: the policy, the view by its length and hash, and the logs."""
    ordered = sorted(logs, key=lambda each: each.log)
    fields: list[str | int] = []
    for each in ordered:
        cut_seq = "" if each.cut_seq is None else each.cut_seq
        cut_id = "" if each.cut_id is None else each.cut_id.hex()
        tips = [tip.hex() for tip in each.tips]
        fields += [each.log.hex(), each.status, cut_seq, cut_id, int(each.forked), len(tips), *tips]
    return tagged_hash(STATE_TAG, policy, group.hex(), n, v_n.hex(), len(ordered), *fields)
