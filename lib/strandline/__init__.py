"""Strandline verifies append-only journals of many writers and merges them into Delta tables on Spark.

lake = strandline.open("lake")
lake.ingest("dump/", dialect="sdmp")
lake.reduce()
lake.sql("SELECT * FROM namespace_health").show()
"""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from strandline.core.errors import FaultError, StrandlineError, UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from strandline.lake import Lake

__all__ = ["FaultError", "StrandlineError", "UsageError", "__version__", "open", "register"]
__version__ = "0.1.0"


def open(  # noqa: A001 - `strandline.open`, like `gzip.open`
    path: str | os.PathLike[str] | None = None,
    *,
    schema: str | None = None,
    settings: Mapping[str, object] | None = None,
) -> "Lake":
    """Return the lake at `path`, or in the schema `CATALOG.SCHEMA`; see `strandline.lake.open_lake`."""
    from strandline.lake import open_lake

    return open_lake(path, schema=schema, settings=settings)


def register(spark: "SparkSession") -> None:
    """Register Strandline's table functions in a session that another program opened, for example a notebook."""
    from strandline.session.functions import register as register_all

    register_all(spark)
