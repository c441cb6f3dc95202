"""Writing device logs without Spark."""

from strandline.dialects.devicelog.author.entries import sign_entry
from strandline.dialects.devicelog.author.log import DeviceLog, meet, public_key
from strandline.dialects.devicelog.author.messages import ssb_sign
from strandline.dialects.devicelog.author.own_log import Merged
from strandline.dialects.devicelog.author.synthetic import synthetic

__all__ = ["DeviceLog", "Merged", "meet", "public_key", "sign_entry", "ssb_sign", "synthetic"]
