"""How long VACUUM leaves files that a commit removed: what `maintain` asks for, and what `gc` can rely on."""

from datetime import UTC, datetime, timedelta

import pytest

from strandline.pipelines.maintain import AGE, AS_OF, REDUCE, kept_days
from strandline.tables.old_versions import Kept, kept

NOW = datetime(2026, 11, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("ago", "days", "why"),
    [
        ({}, 7, AGE),
        ({REDUCE: timedelta(days=6)}, 7, AGE),
        # VACUUM starts minutes after the days were chosen.
        ({REDUCE: timedelta(days=7, minutes=-1)}, 14, REDUCE),
        ({REDUCE: timedelta(days=13), AS_OF: timedelta(days=14, minutes=-1)}, 21, AS_OF),
        ({REDUCE: timedelta(days=20), AS_OF: timedelta(days=13)}, 21, REDUCE),
    ],
)
def test_a_table_keeps_files_for_the_oldest_need_and_an_hour(ago, days, why):
    assert kept_days(7, NOW, {reason: NOW - age for reason, age in ago.items()}) == (days, why)


def test_delta_goes_by_the_hours_and_databricks_by_them_or_by_what_tables_state():
    day, week = timedelta(days=1), timedelta(days=7)
    assert kept(24, (30, None), on_databricks=False) == Kept(day, day)
    assert kept(24, (7, 1), on_databricks=True) == Kept(day, week)
    assert kept(24 * 7, (1, 2), on_databricks=True) == Kept(day, week)
    # What is not stated in days may be any time: nothing counts as gone, and everything may go.
    assert kept(24, (7, None), on_databricks=True) == Kept(timedelta(), None)
    assert kept(0, (7, None), on_databricks=True) == Kept(timedelta(), timedelta())
