"""Facts without their times, for tasks that keep many facts in memory. Only ids and signed messages depend on times."""

from dataclasses import replace
from typing import Final

from strandline.dialects.aura.codec.facts import stored_fact
from strandline.dialects.aura.types import Fact

_TIMESTAMP: Final = "timestamp"
_RECEIPT: Final = "RendezvousReceipt"


def fact_without_times(cbor: bytes) -> Fact:
    """Return `stored_fact` without its times: `value` and the content of a receipt have no `timestamp`.

    A vector clock of a fact of 1 MiB takes 5 MB when it is read. The bytes, the ids and all else are those of the fact.

    Raises:
        ValueError: the bytes are none.
    """
    fact = stored_fact(cbor)
    value = {name: member for name, member in fact.value.items() if name != _TIMESTAMP}
    if fact.kind != _RECEIPT:
        return replace(fact, value=value)
    content = {name: member for name, member in fact.content.items() if name != _TIMESTAMP}
    return replace(fact, value=value | {"content": {_RECEIPT: content}}, content=content)
