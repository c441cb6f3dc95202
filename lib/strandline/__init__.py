"""Strandline lands journals that many nodes write on their own, proves them and folds them to one state."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__version__ = "0.1.0"


def register(spark: "SparkSession") -> None:
    """Give a session that Strandline did not open (a notebook's) the table functions that its own sessions have."""
    from strandline.session.functions import register as register_all

    register_all(spark)
