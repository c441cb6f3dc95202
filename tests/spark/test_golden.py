"""Local nodes that write and exchange journals leave the rows of tests/vectors/golden, at the same cost.

The golden lakes of the dialects are compared by their conformance tests.
"""

from support import golden


def test_the_golden_exchange_leaves_the_rows_and_costs_the_jobs_that_are_stored(spark, new_lake, tmp_path):
    golden.agree("exchange", golden.exchange(spark, new_lake, tmp_path / "in"))
