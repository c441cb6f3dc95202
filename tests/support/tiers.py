"""The tiers of tests: the folder of a test tells what it needs."""

TIERS = ("architecture", "delta", "jobs", "laws", "notebooks", "spark", "unit")
"""Folders of tests; none of them may be empty in a run of everything."""
SPARK_TIERS = ("delta", "jobs", "notebooks", "spark")


def tier_of(nodeid: str) -> str | None:
    """Return the folder of a test, as in `tests/<tier>/..`."""
    place = nodeid.partition("::")[0].split("/")
    return next((each for each in place[:-1] if each in TIERS), None)


def is_spark(nodeid: str) -> bool:
    """Return True for a test that may need a JVM."""
    return tier_of(nodeid) in SPARK_TIERS
