"""Namespaces of Aura journals: of authorities and of contexts."""

from __future__ import annotations

from typing import Final, Literal

from pyspark.sql import Column
from pyspark.sql import functions as F

Kind = Literal["authority", "context"]
KINDS: Final[tuple[Kind, ...]] = ("authority", "context")
_ID_AT: Final = len("authority:") + 1


def is_of(kind: Kind) -> Column:
    """Return whether the namespace of a row is of this kind."""
    return F.startswith("namespace", F.lit(f"{kind}:"))


def authority_id() -> Column:
    """Return the id (uuid) in the namespace of an authority, as `authority`."""
    return F.substring("namespace", _ID_AT, 36).alias("authority")
