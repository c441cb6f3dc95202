"""Pins: the genesis of authorities and contexts, as the operator states it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from re import fullmatch

from strandline.core.encoding.strict_json import JsonRefused, strict_json
from strandline.core.errors import UsageError
from strandline.core.limits import MAX_OPTION_VALUES
from strandline.core.verdict import shown
from strandline.dialects.aura.codec import ShapeRefused, read_namespace


@dataclass(frozen=True, slots=True)
class Pins:
    """The pinned genesis of namespaces, by namespace, and the name of the file, for messages."""

    by_namespace: Mapping[str, bytes] = field(default_factory=dict)
    file: str = ""


def parse_pins(raw: bytes, name: str) -> Pins:
    """Return the pins of an operator's file; `name` is its name for messages.

    Form: an object of namespaces, `authority:<uuid>` or `context:<uuid>`, and 64 hex digits: of an authority the op id
    of its genesis, of a context its digest.

    Raises:
        UsageError: `AURA_PINS_INVALID`, naming file and member.
    """
    try:
        document = strict_json(raw, most_values=MAX_OPTION_VALUES)
    except JsonRefused as refused:
        raise _invalid(name, f"is not strict JSON ({refused.cause})") from None
    if not isinstance(document, dict):
        raise _invalid(name, "must be an object of namespaces")
    pins: dict[str, bytes] = {}
    for text, digest in document.items():
        try:
            namespace = read_namespace(text).text
        except ShapeRefused:
            raise _invalid(
                name, f"names {shown(text)}, which is no namespace of an authority or a context"
            ) from None
        if not isinstance(digest, str) or not fullmatch("[0-9a-fA-F]{64}", digest):
            raise _invalid(name, f"must give 64 hex digits for {namespace}")
        if namespace in pins:
            raise _invalid(name, f"names {namespace} twice")
        pins[namespace] = bytes.fromhex(digest)
    return Pins(pins, name)


def contradiction(file: str, namespace: str) -> UsageError:
    """Return the error of a pin that contradicts the accepted genesis of its namespace."""
    return UsageError(
        "AURA_PIN_CONTRADICTED",
        f"The file {file} pins {namespace} to another genesis than the one that this lake accepted: nothing was read.",
        "Correct the pin, or bring the namespace into a new lake with it.",
    )


def _invalid(name: str, fault: str) -> UsageError:
    return UsageError(
        "AURA_PINS_INVALID",
        f"The file {name} {fault}.",
        'Write it as {"authority:<uuid>": "<64 hex digits>"}.',
    )
