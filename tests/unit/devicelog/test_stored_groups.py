"""What an increment starts from: the rows of tips say which logs are forked, how far each counts, who is waited for."""

import pytest

from strandline.dialects.devicelog.kernels.schemas import TIP_COLUMNS
from strandline.dialects.devicelog.kernels.stored_groups import stored_tips
from strandline.dialects.devicelog.reduce.branches import NONE
from strandline.dialects.devicelog.types import MAX_NUMBER


def tip(number: int, **changed: object) -> dict:
    log = bytes([number]) * 32
    row = dict.fromkeys(TIP_COLUMNS) | {
        "record_id": bytes([number + 100]) * 32, "log": log, "branch": log, "seq": 4, "lamport": 7, "past": [],
        "behind": 0, "status": "active", "waited": True, "forked": False,
    }  # fmt: skip
    return row | changed


@pytest.mark.parametrize(
    "changed", [{"forked": True}, {"past": None}, {"past": [{"branch": b"?", "seq": 1}]}]
)
def test_a_group_with_a_tip_that_does_not_tell_its_whole_past_is_not_continued(changed: dict) -> None:
    assert stored_tips([tip(1), tip(2)], {}) is not None
    assert stored_tips([tip(1), tip(2, **changed)], {}) is None
    assert stored_tips([tip(1), tip(1, record_id=b"another tip")], {}) is None


@pytest.mark.parametrize(
    ("changed", "kept"),
    [
        ({}, MAX_NUMBER), ({"status": "removed", "cut_seq": 3}, 3), ({"status": "removed", "cut_seq": -1}, -1),
        ({"status": "void"}, NONE), ({"status": "void", "cut_seq": 3}, NONE),
    ],
)  # fmt: skip
def test_of_a_log_what_its_status_leaves_counts(changed: dict, kept: int) -> None:
    found = stored_tips([tip(1, **changed)], {})
    assert found is not None
    [only] = found.tips.values()
    assert (only.kept, only.is_active) == (kept, "status" not in changed)
