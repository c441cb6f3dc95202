"""Forms of maps and lists: records with fixed members, variants, ascending lists, pairs, maps of any names."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from strandline.core.encoding.strict_cbor import cbor_name_key
from strandline.core.verdict import shown
from strandline.dialects.aura.codec.forms import Form, Reader, ShapeRefused, Side, same, wrong_type


def optional(form: Form) -> Form:
    """Return the form of a value or null; JSON may omit the member."""
    return Form(
        lambda value: None if value is None else form.from_json(value),
        lambda value: None if value is None else form.from_cbor(value),
        lambda value: None if value is None else form.to_json(value),
        absent=lambda: None,
    )


def one_of(variants: Mapping[str, Form]) -> Form:
    """Return the form of a map with exactly one member, whose name is one of the variants."""

    def reader(side: Side) -> Reader:
        readers = {name: getattr(form, side) for name, form in variants.items()}

        def read(value: Any) -> dict[str, Any]:
            if type(value) is not dict:
                raise wrong_type(value, "map")
            name = next(iter(value), "") if len(value) == 1 else ""
            if name not in readers:
                raise ShapeRefused("VARIANT_UNKNOWN", actual=shown(",".join(list(value)[:2])))
            try:
                return {name: readers[name](value[name])}
            except ShapeRefused as refused:
                raise refused.inside(name) from None

        return read

    def to_json(value: Mapping[str, Any]) -> dict[str, Any]:
        return {name: variants[name].to_json(inner) for name, inner in value.items()}

    return Form(reader("from_json"), reader("from_cbor"), to_json)


def record(
    members: Mapping[str, Form],
    *,
    ignored: frozenset[str] = frozenset(),
    refused: Mapping[str, str] | None = None,
    check: Callable[[dict[str, Any]], None] | None = None,
) -> Form:
    """Return the form of a map with exactly these members, checked in this order; unknown ones come first.

    JSON may also have members that are `ignored`. A name in `refused` gives its own code. `check` raises for a value
    whose members do not fit together.
    """
    ordered = sorted(members, key=cbor_name_key)
    codes = dict(refused or {})

    def reader(side: Side) -> Reader:
        readers = [(name, getattr(form, side), form.absent) for name, form in members.items()]
        known = members.keys() | (ignored if side == "from_json" else frozenset())
        can_omit = side == "from_json"

        def read(value: Any) -> dict[str, Any]:
            if type(value) is not dict:
                raise wrong_type(value, "map")
            if not value.keys() <= known:
                raise _unknown_member(value.keys() - known, codes)
            found = {}
            name = ""
            try:
                for name, read_member, absent in readers:
                    if name in value:
                        found[name] = read_member(value[name])
                    elif can_omit and absent is not None:
                        found[name] = absent()
                    else:
                        raise ShapeRefused("FIELD_MISSING")
            except ShapeRefused as refused:
                raise refused.inside(name) from None
            if check is not None:
                check(found)
            return {name: found[name] for name in ordered}

        return read

    def to_json(value: Mapping[str, Any]) -> dict[str, Any]:
        return {name: members[name].to_json(value[name]) for name in ordered}

    return Form(reader("from_json"), reader("from_cbor"), to_json)


def _unknown_member(names: set[str], codes: Mapping[str, str]) -> ShapeRefused:
    for name in sorted(names):
        if name in codes:
            return ShapeRefused(codes[name]).inside(shown(name))
    return ShapeRefused("FIELD_UNKNOWN").inside(shown(min(names)))


def ascending(form: Form, *, most: int | None = None, least: int = 0, key: Reader = same) -> Form:
    """Return the form of a list that ascends strictly by `key`; JSON may have it in any order."""
    expected = f"at most {most} elements" if least == 0 else f"{least}..{most} elements"

    def elements(value: Any, read: Reader) -> list[Any]:
        if type(value) is not list:
            raise wrong_type(value, "list")
        if len(value) < least or (most is not None and len(value) > most):
            raise ShapeRefused("LENGTH_INVALID", expected=expected, actual=len(value))
        found: list[Any] = []
        try:
            for each in value:
                found.append(read(each))  # noqa: PERF401 - its length names the element that is refused
        except ShapeRefused as refused:
            raise refused.inside(str(len(found))) from None
        return found

    def from_json(value: Any) -> list[Any]:
        found = sorted(elements(value, form.from_json), key=key)
        if any(key(one) == key(other) for one, other in pairwise(found)):
            raise ShapeRefused("LIST_DUPLICATE")
        return found

    def from_cbor(value: Any) -> list[Any]:
        found = elements(value, form.from_cbor)
        keys = [key(each) for each in found]
        if all(one < other for one, other in pairwise(keys)):
            return found
        keys.sort()
        if any(one == other for one, other in pairwise(keys)):
            raise ShapeRefused("LIST_DUPLICATE")
        raise ShapeRefused("CBOR_NOT_CANONICAL", expected="ascending")

    return Form(from_json, from_cbor, lambda value: [form.to_json(each) for each in value])


def pair(one: Form, other: Form) -> Form:
    """Return the form of a list of two values."""

    def reader(side: Side) -> Reader:
        readers = (getattr(one, side), getattr(other, side))

        def read(value: Any) -> list[Any]:
            if type(value) is not list:
                raise wrong_type(value, "pair")
            if len(value) != 2:
                raise ShapeRefused("LENGTH_INVALID", expected="2 elements", actual=len(value))
            return [readers[0](value[0]), readers[1](value[1])]

        return read

    return Form(
        reader("from_json"),
        reader("from_cbor"),
        lambda value: [one.to_json(value[0]), other.to_json(value[1])],
    )


def named(names: Form, values: Form, *, most: int) -> Form:
    """Return the form of a map with at most `most` members of any names."""

    def reader(side: Side) -> Reader:
        read_name, read_value = getattr(names, side), getattr(values, side)

        def read(value: Any) -> dict[str, Any]:
            if type(value) is not dict:
                raise wrong_type(value, "map")
            if len(value) > most:
                raise ShapeRefused("LENGTH_INVALID", expected=f"at most {most} members", actual=len(value))
            found = {}
            name = ""
            try:
                for name in sorted(value, key=cbor_name_key):
                    found[read_name(name)] = read_value(value[name])
            except ShapeRefused as refused:
                raise refused.inside(shown(name)) from None
            return found

        return read

    def to_json(value: Mapping[str, Any]) -> dict[str, Any]:
        return {names.to_json(name): values.to_json(each) for name, each in value.items()}

    return Form(reader("from_json"), reader("from_cbor"), to_json)


def spelled(form: Form, from_json: Reader) -> Form:
    """Return the same form with another reader of JSON."""
    return replace(form, from_json=from_json)


def or_empty(form: Form) -> Form:
    """Return the form of a list that JSON may omit if it is empty."""
    empty: Callable[[], Sequence[Any]] = list
    return replace(form, absent=empty)
