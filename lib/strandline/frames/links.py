"""Lists of digests, by which a record names others."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F

MOST_COMPARED: Final = 64


def distinct(digests: Column | str) -> Column:
    """Return an array of binaries without repetitions, in the order of their first occurrences.

    Spark compares each binary with all before it, and a record may name 50,000 (20,000 took 2.5 s, measured). Of texts
    it keeps a hash table, so long lists go through hexadecimal.
    """
    named = F.col(digests) if isinstance(digests, str) else digests
    texts = F.array_distinct(F.transform(named, F.hex))
    return F.when(F.size(named) <= MOST_COMPARED, F.array_distinct(named)).otherwise(
        F.transform(texts, F.unhex)
    )
