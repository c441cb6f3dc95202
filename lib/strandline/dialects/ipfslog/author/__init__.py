"""Writing logs without Spark: identities, entries, snapshots, CARs, and `Log`, which does all of it."""

from strandline.dialects.ipfslog.author.entries import sign_entry
from strandline.dialects.ipfslog.author.gset import GSet
from strandline.dialects.ipfslog.author.identity import Identity, IdentityType
from strandline.dialects.ipfslog.author.log import ClockSaturated, Log

__all__ = ["ClockSaturated", "GSet", "Identity", "IdentityType", "Log", "sign_entry"]
