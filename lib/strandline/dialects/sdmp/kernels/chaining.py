"""Stored lines to chains: sequences of lines in which each follows the one before, as a frame carries them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from strandline.dialects.sdmp.codec import profile_of
from strandline.dialects.sdmp.types import line_hash
from strandline.kernels.batches import as_batch

CHAIN_SCHEMA = pa.schema(
    [
        pa.field("namespace", pa.string()),
        pa.field("number", pa.string()),
        pa.field("n", pa.int64()),
        pa.field("entries", pa.list_(pa.string())),
    ]
)
MAX_CHAIN_BYTES = 2 * 1024 * 1024
"""The size at which the collected chains are returned: about 10,000 lines, of all branches of a journal together."""


def chains(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the chains that lines form; each row is in exactly one chain, repeated lines too.

    Reads: namespace, n, line_number (null: line 1), text (the line), sorted by namespace and n.
    Gives: CHAIN_SCHEMA: `number` and `n` of the first line of a chain, `entries` its lines.
    The first successor of a line continues its chain, each other one starts a chain. The hash of a line is computed
    from its text.
    """
    chained = _Chains()
    names = ("namespace", "n", "line_number", "text")
    for batch in batches:
        columns = (batch.column(name).to_pylist() for name in names)
        for namespace, n, number, text in zip(*columns, strict=True):
            if chained.size >= MAX_CHAIN_BYTES:
                yield chained.out()
            chained.add(namespace, n, number, text)
    if chained.size:
        yield chained.out()


class _Chains:
    """Chains being built, by journal and the number that their next line must carry."""

    def __init__(self) -> None:
        self._chains: list[tuple[str, str | None, int, list[str]]] = []
        self._open: dict[tuple[str, str], list[str]] = {}
        self.size = 0

    def add(self, namespace: str, n: int, number: str | None, text: str) -> None:
        """Add a line to the chain whose last line it follows, or start a chain with it."""
        lines = None if number is None else self._open.pop((namespace, number), None)
        if lines is None:
            lines = []
            self._chains.append((namespace, number, n, lines))
        lines.append(text)
        self.size += len(text)
        profile = profile_of(namespace.rpartition(":")[2])
        if profile is not None:
            self._open[namespace, line_hash(text.encode(), profile)] = lines

    def out(self) -> pa.RecordBatch:
        """Return all chains and reset."""
        chains = self._chains
        self._chains, self._open, self.size = [], {}, 0
        return as_batch(chains, CHAIN_SCHEMA)
