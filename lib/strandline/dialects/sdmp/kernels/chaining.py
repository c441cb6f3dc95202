"""Stored lines to chains: runs of lines each of which follows the one before, as a frame carries them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from strandline.kernels.batches import as_batch

CHAIN_SCHEMA = pa.schema(
    [
        pa.field("namespace", pa.string()),
        pa.field("number", pa.string()),
        pa.field("n", pa.int64()),
        pa.field("entries", pa.string()),
    ]
)
MAX_CHAIN_BYTES = 2 * 1024 * 1024
"""What is collected before it goes out: 10,000 lines, of all branches of a journal together."""


def chains(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the chains that lines make, each line in one of them.

    Reads: namespace, n, line_number (null: line 1), line_hash, text (the line), sorted by namespace and n.
    Gives: CHAIN_SCHEMA: `number` and `n` of the first line of a chain, `entries` its lines as members of a JSON array.
    Of two lines that follow one line the first goes on with its chain, the other begins one.
    """
    chained = _Chains()
    names = ("namespace", "n", "line_number", "line_hash", "text")
    for batch in batches:
        columns = (batch.column(name).to_pylist() for name in names)
        for namespace, n, number, line_hash, text in zip(*columns, strict=True):
            if chained.size >= MAX_CHAIN_BYTES:
                yield chained.out()
            chained.add(namespace, n, number, line_hash, text)
    if chained.size:
        yield chained.out()


class _Chains:
    """Chains by the hash that their next line carries: it commits to all above, so that it names one journal."""

    def __init__(self) -> None:
        self._chains: dict[str, tuple[str, str | None, int, list[str]]] = {}
        self.size = 0

    def add(self, namespace: str, n: int, number: str | None, line_hash: str, text: str) -> None:
        """Add a line to the chain whose last line it follows, or begin a chain with it."""
        chain = None if number is None else self._chains.pop(number, None)
        if chain is None:
            chain = (namespace, number, n, [])
        chain[3].append(text)
        self.size += len(text)
        self._chains[line_hash] = chain

    def out(self) -> pa.RecordBatch:
        """End all chains and return them."""
        rows = [
            (namespace, number, n, ",".join(f'"{text}"' for text in texts))
            for namespace, number, n, texts in self._chains.values()
        ]
        self._chains, self.size = {}, 0
        return as_batch(rows, CHAIN_SCHEMA)
