"""Settings: names and types, layers and errors."""

from strandline.config.layers import (
    Effective,
    Layer,
    defaults,
    effective,
    environment_layer,
    file_layer,
    options_layer,
    with_home,
)
from strandline.config.settings import Limits, Merge, Progress, Read, Settings, Spark, Tables

__all__ = [
    "Effective",
    "Layer",
    "Limits",
    "Merge",
    "Progress",
    "Read",
    "Settings",
    "Spark",
    "Tables",
    "defaults",
    "effective",
    "environment_layer",
    "file_layer",
    "options_layer",
    "with_home",
]
