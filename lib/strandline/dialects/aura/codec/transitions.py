"""The forms of AMP transitions: facts of newer versions of AMP, which a lake reads only on request."""

from typing import Final

from strandline.dialects.aura.codec.containers import record
from strandline.dialects.aura.codec.scalars import enum, octets, unsigned, uuid

_U64, _B32 = unsigned(64), octets(32, 32)

REASON: Final = enum("Routine", "SuspiciousActivity", "ConfirmedCompromise")
TRANSITION_POLICIES: Final = (
    "NormalTransition",
    "AdditiveTransition",
    "SubtractiveTransition",
    "EmergencyQuarantineTransition",
    "EmergencyCryptoshredTransition",
)
_PARENT: Final = {"context": uuid(), "channel": _B32, "parent_epoch": _U64, "parent_commitment": _B32}
TRANSITION_IDENTITY: Final = record(
    {
        **_PARENT,
        "successor_epoch": _U64,
        "successor_commitment": _B32,
        "membership_commitment": _B32,
        "transition_policy": enum(*TRANSITION_POLICIES),
    }
)
_AT_PARENT: Final = record(_PARENT)
_SCOPE: Final = enum("A2LiveOnly", "A2AndA3")
TRANSITIONS: Final = {
    "AmpTransitionProposed": record({"identity": TRANSITION_IDENTITY, "reason": REASON}),
    "AmpTransitionCertified": record({"identity": TRANSITION_IDENTITY}),
    "AmpTransitionFinalized": record({"identity": TRANSITION_IDENTITY, "consensus_id": _B32}),
    "AmpTransitionAbort": record({"parent": _AT_PARENT, "transition_id": _B32, "scope": _SCOPE}),
    "AmpTransitionConflict": record({"parent": _AT_PARENT, "first": _B32, "second": _B32}),
    "AmpTransitionAlarm": record({"parent": _AT_PARENT, "suspect": _B32}),
    "AmpTransitionSupersession": record(
        {"parent": _AT_PARENT, "superseded": _B32, "superseding": _B32, "scope": _SCOPE}
    ),
}
"""The variants by name."""
