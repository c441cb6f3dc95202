"""Points at which a test ends a process: armed by their name and the visit that fires."""

import pytest

from strandline.core.errors import UsageError
from strandline.pipelines.faults import Faults


def test_a_point_fires_at_its_visit_alone():
    fired = []
    armed = Faults("a", 2, fire=lambda: fired.append("a"))
    for point in ("a", "b", "a", "a"):
        armed.reach(point)
        fired.append(point)
    assert fired == ["a", "b", "a", "a", "a"]


def test_points_are_named_with_their_visit():
    assert [(each.point, each.nth) for each in map(Faults.parse, ["a.b", "a.b:3", "", None])] == [
        ("a.b", 1), ("a.b", 3), (None, 1), (None, 1),
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["a:0", "a:x", "a:-1", "a:\u0663"])
def test_a_visit_that_is_no_number_from_one_is_refused(text):
    with pytest.raises(UsageError) as refused:
        Faults.parse(text)
    assert refused.value.code == "FAULT_INVALID"
