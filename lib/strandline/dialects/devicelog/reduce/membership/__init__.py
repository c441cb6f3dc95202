"""Who belongs to a group: ranks of logs, verdicts of removals, which entries are effective."""

from strandline.dialects.devicelog.reduce.membership.decided import (
    EFFECTIVE,
    LAST,
    Membership,
    Status,
)
from strandline.dialects.devicelog.reduce.membership.pasts import Memberships
from strandline.dialects.devicelog.reduce.membership.resolve import resolve

__all__ = ["EFFECTIVE", "LAST", "Membership", "Memberships", "Status", "resolve"]
