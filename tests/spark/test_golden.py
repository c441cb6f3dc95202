"""Fixed inputs give the rows that are stored in tests/vectors/golden, at the same cost."""

import pytest

from support import golden


@pytest.mark.parametrize("name", golden.LAKES)
def test_a_golden_lake_holds_the_rows_and_costs_the_jobs_that_are_stored(spark, new_lake, tmp_path, name):
    golden.agree(name, golden.LAKES[name](spark, new_lake, tmp_path / "in"))
