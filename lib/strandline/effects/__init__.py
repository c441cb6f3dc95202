"""The journal effects of Aura over the tables of a lake: `JournalEffects`, and the errors that it raises."""

from strandline.effects.errors import (
    AttestationRefused,
    AuthorityUnknown,
    CarryDamaged,
    NoSigner,
    NotAMember,
    PartySelf,
    StaleState,
    UnknownContext,
)
from strandline.effects.journals import JournalEffects, LakeJournal

__all__ = [
    "AttestationRefused",
    "AuthorityUnknown",
    "CarryDamaged",
    "JournalEffects",
    "LakeJournal",
    "NoSigner",
    "NotAMember",
    "PartySelf",
    "StaleState",
    "UnknownContext",
]
