"""Strandline verifies append-only journals of many writers and merges them into Delta tables on Spark."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__version__ = "0.1.0"


def register(spark: "SparkSession") -> None:
    """Register Strandline's table functions in a session that another program opened, for example a notebook."""
    from strandline.session.functions import register as register_all

    register_all(spark)
