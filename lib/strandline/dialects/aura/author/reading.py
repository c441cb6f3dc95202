"""Decoding of single facts from CBOR and from JSON, for programs that write facts."""

from strandline.core.errors import UsageError
from strandline.core.verdict import Finding
from strandline.dialects.aura.codec import fact_forms, parse_fact_cbor, parse_fact_text
from strandline.dialects.aura.types import Fact, Namespace


class FactRefused(UsageError):  # noqa: N818 - the product's own word
    """Bytes or a text that are no fact: `code` is the reason of `ingest`, `finding` has its evidence."""

    def __init__(self, finding: Finding) -> None:
        where = f" at {finding.evidence['field']}" if finding.evidence.get("field") else ""
        super().__init__(
            finding.reason,
            f"This is no fact: {finding.reason}{where}.",
            f"`strandline explain {finding.reason}` says more.",
        )
        self.finding = finding


def decode(raw: bytes) -> Fact:
    """Return the fact of its canonical encoding.

    >>> try:
    ...     decode(bytes([0xA0]))
    ... except FactRefused as refused:
    ...     print(refused.code, dict(refused.finding.evidence))
    FIELD_MISSING {'field': 'namespace'}

    Raises:
        FactRefused: the bytes are no fact, or not its one encoding.
    """
    return _fact(parse_fact_cbor(raw))


def from_json(text: str, namespace: Namespace | None = None) -> Fact:
    """Return the fact of a text of JSON, in any spelling.

    With a `namespace` the fact may leave out its own, as in a journal document.

    >>> try:
    ...     from_json('{"order": "0"}', Namespace("context", bytes(16)))
    ... except FactRefused as refused:
    ...     print(refused)
    This is no fact: TYPE_INVALID at order. `strandline explain TYPE_INVALID` says more.

    Raises:
        FactRefused: the text is no fact.
    """
    return _fact(parse_fact_text(text.encode("utf-8", "surrogatepass"), fact_forms(namespace)))


def _fact(found: Fact | Finding) -> Fact:
    if isinstance(found, Finding):
        raise FactRefused(found)
    return found
