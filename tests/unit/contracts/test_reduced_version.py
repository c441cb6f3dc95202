"""The statements that say up to which version a dialect is reduced, as text."""

from strandline.contracts.reduced_version import advance_sql, restart_sql


def test_a_state_is_advanced_only_if_nobody_else_did_and_its_namespace_enters_as_hex_digits() -> None:
    assert advance_sql(target="c.s.t", version=7, before=5, namespace="log:it's", bucket=3) == (
        "UPDATE c.s.t SET reduced_version = 7 WHERE bucket = 3 "
        "AND `namespace` IN (CAST(X'6c6f673a69742773' AS STRING)) AND reduced_version = 5"
    )


def test_a_dialect_is_reduced_up_to_one_version_in_all_of_its_states() -> None:
    assert restart_sql(target="c.s.t", dialect="sdmp", version=0) == (
        "UPDATE c.s.t SET reduced_version = 0 WHERE dialect = 'sdmp' AND reduced_version != 0"
    )
