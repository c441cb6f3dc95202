"""The tables of device logs."""

from typing import Final

from strandline.dialects.devicelog.info import INFO

ENTRIES: Final = INFO.record_table
VIEW, SCREWS, TIPS, MEMBERS, EQUIVOCATIONS = INFO.reduced_tables
