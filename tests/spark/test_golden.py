"""Fixed input of own nodes gives the rows that are stored in tests/vectors/golden, at the same cost.

The lakes of `support.conformance` are golden, too.
"""

from support import golden


def test_an_exchange_leaves_the_rows_and_costs_the_jobs_that_are_stored(spark, new_lake, tmp_path):
    golden.agree("exchange", golden.exchange(spark, new_lake, tmp_path / "in"))
