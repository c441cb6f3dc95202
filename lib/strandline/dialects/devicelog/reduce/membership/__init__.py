"""Who belongs to a group: ranks of logs, verdicts of removals, which entries are effective."""

from strandline.dialects.devicelog.reduce.membership.decided import (
    EFFECTIVE,
    LAST,
    Cut,
    EntryStatus,
    Membership,
    Rank,
    Status,
)
from strandline.dialects.devicelog.reduce.membership.pasts import Memberships
from strandline.dialects.devicelog.reduce.membership.settle import settle

__all__ = ["EFFECTIVE", "LAST", "Cut", "EntryStatus", "Membership", "Memberships", "Rank", "Status", "settle"]
