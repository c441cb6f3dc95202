"""What several commands are given, checked before Spark starts."""

from strandline.core.errors import UsageError
from strandline.core.nearest import did_you_mean


def known_dialect(name: str | None, command: str) -> str:
    """Return the name of a dialect that is there. Raises: UsageError DIALECT_MISSING, DIALECT_UNKNOWN."""
    from strandline.dialects import names

    known = names()
    if name is None:
        one = f"add --dialect {known[0]}"
        raise UsageError(
            "DIALECT_MISSING",
            f"{command} needs to know the format of the journals",
            one if len(known) == 1 else f"add --dialect with one of: {', '.join(known)}",
        )
    if name not in known:
        raise UsageError("DIALECT_UNKNOWN", f"there is no dialect {name}", did_you_mean(name, known))
    return name
