"""Settings: names and types, layers and errors."""

from strandline.config.layers import (
    Effective,
    defaults,
    effective,
    environment_layer,
    file_layer,
    options_layer,
    with_home,
)
from strandline.config.settings import Settings

__all__ = [
    "Effective",
    "Settings",
    "defaults",
    "effective",
    "environment_layer",
    "file_layer",
    "options_layer",
    "with_home",
]
