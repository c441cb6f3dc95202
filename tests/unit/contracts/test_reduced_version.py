"""The statements that say up to which version a dialect is reduced: only of what nobody changed meanwhile."""

import pytest

from strandline.contracts.reduced_version import advance_sql, restart_sql


def test_one_state_advances_only_from_the_version_that_was_read() -> None:
    assert advance_sql(target="t", version=7, before=5, namespace="log:o'x", bucket=3) == (
        "UPDATE t SET reduced_version = 7 WHERE bucket = 3 "
        "AND `namespace` IN (CAST(X'6c6f673a6f2778' AS STRING)) AND reduced_version = 5"
    )


@pytest.mark.parametrize(("dialect", "quoted"), [("sdmp", "'sdmp'"), ("a'b", "'a\\'b'")])
def test_states_of_one_dialect_alone_restart_and_those_that_are_there_stay(dialect: str, quoted: str) -> None:
    assert restart_sql(target="t", dialect=dialect, version=-1) == (
        f"UPDATE t SET reduced_version = -1 WHERE dialect = {quoted} AND reduced_version != -1"
    )
