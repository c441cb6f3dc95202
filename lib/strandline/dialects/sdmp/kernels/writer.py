"""Pending pairs to journal lines: the hashes of local journals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from strandline.dialects.sdmp.author import chained
from strandline.dialects.sdmp.codec import line_hash, profile_of, record_id
from strandline.dialects.sdmp.types import Profile

_KEPT: Final = {
    "namespace": pa.string(), "bucket": pa.int32(), "n": pa.int64(), "author_fp": pa.string(),
    "resource_id": pa.string(), "origin": pa.string(), "next_n": pa.int64(),
}  # fmt: skip
_MADE: Final = {
    "profile": pa.string(), "record_id": pa.binary(), "line_number": pa.string(), "line_hash": pa.string(),
}  # fmt: skip
WRITTEN_SCHEMA: Final = pa.schema(_KEPT | _MADE)


def write_lines(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the lines that continue journals, one per row, in the order of the rows.

    Reads:  namespace, bucket, n, author_fp and resource_id (both null: line 1), origin, next_n; tip_line: in the first
            row of a journal the line that it follows, else null. All rows of a journal follow each other, by n.
    Gives:  WRITTEN_SCHEMA.

    Raises:
        ValueError: the namespace is not that of a node, a pair does not consist of ids of its profile, or the rows of a
            journal do not follow each other.
    """
    journal = _Journal()
    for batch in batches:
        authors, resources, tips = (
            batch.column(name).to_pylist() for name in ("author_fp", "resource_id", "tip_line")
        )
        positions = batch.column("n").to_numpy()
        runs = pc.run_end_encode(batch.column("namespace"))
        made: dict[str, list[object]] = {name: [] for name in _MADE}
        first = 0
        for namespace, end in zip(runs.values.to_pylist(), runs.run_ends.to_pylist(), strict=True):
            lines = journal.go_on(
                namespace, tips[first], positions[first:end], authors[first:end], resources[first:end]
            )
            raws, numbers, hashes = zip(*lines, strict=True)
            # In 0.9 the hash of a line is its record id in hex.
            ids = map(bytes.fromhex, hashes) if journal.profile == "0.9" else map(record_id, raws)
            made["profile"].extend([journal.profile] * len(raws))
            made["record_id"].extend(ids)
            made["line_number"].extend(numbers)
            made["line_hash"].extend(hashes)
            first = end
        columns = [batch.column(name) for name in _KEPT]
        columns += [pa.array(made[name], kind) for name, kind in _MADE.items()]
        yield pa.RecordBatch.from_arrays(columns, schema=WRITTEN_SCHEMA)


class _Journal:
    """The journal that is being continued, at its line `_n` with the hash `_number`."""

    def __init__(self) -> None:
        self._namespace = ""
        self._n = 0
        self._number = ""
        self.profile: Profile = "0.9"

    def go_on(
        self,
        namespace: str,
        tip_line: str | None,
        positions: NDArray[np.int64],
        authors: Sequence[Any],
        resources: Sequence[Any],
    ) -> list[tuple[bytes, str | None, str]]:
        """Return (line, number, hash) of each row: of this journal, or of the next one from its tip or line 1 on."""
        fingerprint = namespace.removeprefix("node:")
        is_line_1 = authors[0] is None
        if tip_line is not None or is_line_1:
            profile = profile_of(fingerprint)
            if profile is None:
                raise ValueError("the namespace must be that of a node of one of the profiles")
            self._namespace, self.profile = namespace, profile
            self._n = 0 if tip_line is None else int(positions[0]) - 1
            self._number = line_hash((tip_line or fingerprint).encode("ascii"), profile)
        after = self._n + len(positions)
        if namespace != self._namespace or not np.array_equal(positions, np.arange(self._n + 1, after + 1)):
            raise ValueError(f"the rows of {namespace} do not follow each other")
        self._n = after
        lines: list[tuple[bytes, str | None, str]] = []
        if is_line_1:
            lines.append((fingerprint.encode("ascii"), None, self._number))
        pairs = zip(authors[len(lines) :], resources[len(lines) :], strict=True)
        lines.extend(chained(self._number, pairs, self.profile))
        self._number = lines[-1][-1]
        return lines
