"""Cases as parameters, those that take a second or megabytes kept out of the inner loop."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest

LARGE = ("50,000", "16 MiB")


def by_size(cases: Iterable[Any], name_of: Callable[[Any], str]) -> list[Any]:
    """One parameter a case, named as the case is; `large` if its name tells of so many records or bytes."""
    return [
        pytest.param(
            case,
            id=name_of(case),
            marks=pytest.mark.large if any(size in name_of(case) for size in LARGE) else (),
        )
        for case in cases
    ]
