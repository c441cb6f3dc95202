"""Forms of values: how each type of a fact is read from JSON and from CBOR, and written as JSON.

Reading gives one canonical value, whatever the spelling: bytes for hex and arrays of integers, integers for digits,
sorted lists. JSON is only a spelling; the canonical value is what gets encoded.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from strandline.core.verdict import Finding, JsonValue, shown

Reader: TypeAlias = Callable[[Any], Any]
Side: TypeAlias = Literal["from_json", "from_cbor"]


class ShapeRefused(ValueError):  # noqa: N818 - a verdict on the value, not an error of the program
    """The value does not have its form; `path` leads to the member, innermost name first."""

    def __init__(self, reason: str, *, expected: JsonValue = None, actual: JsonValue = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.expected = expected
        self.actual = actual
        self.path: list[str] = []

    def inside(self, name: str) -> "ShapeRefused":
        """Return the same refusal of a member of this name."""
        self.path.append(name)
        return self

    @property
    def finding(self) -> Finding:
        """The reason with the member, what was expected and what was found."""
        evidence: dict[str, JsonValue] = {"field": shown(".".join(reversed(self.path)))}
        stated = {"expected": self.expected, "actual": self.actual}
        evidence |= {name: value for name, value in stated.items() if value is not None}
        return Finding(self.reason, evidence)


@dataclass(frozen=True, slots=True)
class Form:
    """How a value is read and written. All three keep the canonical value.

    `absent` makes the value of a member that JSON may omit; CBOR may omit none.
    """

    from_json: Reader
    from_cbor: Reader
    to_json: Reader
    absent: Callable[[], Any] | None = None


def same(value: Any) -> Any:
    """Return the value."""
    return value


def wrong_type(value: Any, expected: str) -> ShapeRefused:
    """Return the refusal of a value of another type."""
    return ShapeRefused("TYPE_INVALID", expected=expected, actual=type_name(value))


def type_name(value: Any) -> str:
    """Return the name of a value's type in JSON or CBOR."""
    names = {dict: "map", list: "list", str: "text", bytes: "bytes", bool: "boolean", int: "integer"}
    return "null" if value is None else names.get(type(value), "number")
