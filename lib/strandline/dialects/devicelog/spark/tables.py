"""The tables of device logs."""

from typing import Final

from strandline.dialects.devicelog.info import INFO

ENTRIES: Final = INFO.record_table
REDUCED: Final = INFO.reduced_tables
VIEW, SCREWS, TIPS, MEMBERS, _ = REDUCED
