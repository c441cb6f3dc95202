"""The column `reduced_version` of `namespace_state`: up to which version of its record table a dialect is reduced."""

from strandline.contracts.quoting import in_list, quote_text


def advance_sql(*, target: str, version: int, before: int, namespace: str, bucket: int) -> str:
    """Return the statement that sets `reduced_version` of one state to `version`, if it is still `before`."""
    return (
        f"UPDATE {target} SET reduced_version = {int(version)} WHERE bucket = {int(bucket)} "
        f"AND {in_list('namespace', (namespace,))} AND reduced_version = {int(before)}"
    )


def restart_sql(*, target: str, dialect: str, version: int) -> str:
    """Return the statement that sets `reduced_version` of all states of a dialect to `version`."""
    return (
        f"UPDATE {target} SET reduced_version = {int(version)} WHERE dialect = {quote_text(dialect)} "
        f"AND reduced_version != {int(version)}"
    )
