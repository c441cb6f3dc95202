"""How many random examples a law is tried on."""

import os

from hypothesis import HealthCheck, settings

IS_QUICK = os.environ.get("LAWS") == "few"
"""Set by `make quick`: the inner loop tries a quarter of the examples, `make test` all of them."""


def law(examples: int) -> settings:
    """Return the settings of a law that `make test` tries on so many examples, however slow the machine is."""
    return settings(
        max_examples=max(5, examples // 4) if IS_QUICK else examples,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
