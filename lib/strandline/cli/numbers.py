"""The bounds of options that are numbers, also for calls from Python, which no parser has checked."""

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from strandline.core.errors import UsageError


@dataclass(frozen=True, slots=True)
class Bounds:
    """The least and the greatest value of an option; None for no bound."""

    least: int | None
    most: int | None

    def in_words(self) -> str:
        """Return the values that are allowed."""
        if self.least is None:
            return "a whole number"
        most = "of at least" if self.most is None else "from"
        return f"a whole number {most} {self.least}" + ("" if self.most is None else f" to {self.most}")

    def has(self, value: Any) -> bool:
        """Return whether `value` is such a number."""
        return (
            isinstance(value, int)
            and not isinstance(value, bool)
            and (self.least is None or value >= self.least)
            and (self.most is None or value <= self.most)
        )


def bounds_of(parameters: Iterable[inspect.Parameter]) -> Mapping[str, Bounds]:
    """Return the bounds of the parameters that are numbers, by name, as `typer.Option` declares them."""
    found = {}
    for parameter in parameters:
        kind, *shown = get_args(parameter.annotation) or (None,)
        if int in get_args(kind):
            found[parameter.name] = Bounds(shown[0].min, shown[0].max)
    return found


def check_numbers(command: str, bounds: Mapping[str, Bounds], values: Mapping[str, Any]) -> None:
    """Check the given options that are numbers. Raises: UsageError `NUMBER_INVALID`."""
    for name, allowed in bounds.items():
        value = values.get(name)
        if value is not None and not allowed.has(value):
            raise UsageError(
                "NUMBER_INVALID",
                f"{name} of {command} is {value!r}, but must be {allowed.in_words()}",
                f"`strandline {command} --help` shows its options",
            )
