"""Why an effect on a journal was refused: nothing was written in any of these cases."""

from __future__ import annotations

from strandline.core.errors import FaultError, UsageError
from strandline.dialects.aura.types import Namespace


class UnknownContext(UsageError):  # noqa: N818 - the product's own word
    """The lake has no accepted genesis of a context."""

    def __init__(self, context: Namespace) -> None:
        super().__init__(
            "UNKNOWN_CONTEXT",
            f"The lake has no accepted genesis of {context.text}, so nothing was written.",
            "Ingest the genesis of the context first.",
        )


class AuthorityUnknown(UsageError):  # noqa: N818 - the product's own word
    """The lake has no accepted operation of an authority."""

    def __init__(self, authority: Namespace) -> None:
        super().__init__(
            "AUTHORITY_UNKNOWN",
            f"The lake has no accepted operation of {authority.text}, so nothing was written.",
            "Ingest the journal of the authority first.",
        )


class NotAMember(UsageError):  # noqa: N818 - the product's own word
    """A party of a budget is no member of the context."""

    def __init__(self, context: Namespace, authority: Namespace) -> None:
        super().__init__(
            "NOT_A_MEMBER",
            f"{authority.text} is no member of {context.text}, so nothing was written.",
            "Members never change: use a context of both authorities.",
        )


class PartySelf(UsageError):  # noqa: N818 - the product's own word
    """Both parties of a budget are one authority."""

    def __init__(self, authority: Namespace) -> None:
        super().__init__(
            "PARTY_SELF",
            f"{authority.text} has no budget to itself, so nothing was written.",
            "Name another member of the context as the peer.",
        )


class CarryDamaged(FaultError):  # noqa: N818 - the product's own word
    """The remains of pruned records of a context or an authority cannot be read."""

    def __init__(self, namespace: Namespace) -> None:
        super().__init__(
            "SNAPSHOT_DAMAGED",
            f"The snapshot of the pruned records of {namespace.text} is damaged, so nothing was written.",
            "RESTORE the table `snapshot` to a version before the damage, then run `strandline gc`.",
        )


class NoSigner(UsageError):  # noqa: N818 - the product's own word
    """An effect that writes needs an authority and its signer."""

    def __init__(self) -> None:
        super().__init__(
            "NO_SIGNER",
            "Charges and limits are attested, and no authority with a signer was given, so nothing was written.",
            "Give `authority` and `signer` to JournalEffects.",
        )


class StaleState(UsageError):  # noqa: N818 - the product's own word
    """A signer attests at another state than the tip of its authority."""

    def __init__(self, tip: bytes, named: bytes) -> None:
        super().__init__(
            "STALE_STATE",
            f"The signer names the state {named.hex()}, its authority is at {tip.hex()}, so nothing was written.",
            "Let the signer attest at the tip; ingest the journal of the authority if the signer is ahead.",
        )


class AttestationRefused(UsageError):  # noqa: N818 - the product's own word
    """What a signer returned is no attestation of the body by its authority."""

    def __init__(self, reasons: tuple[str, ...]) -> None:
        super().__init__(
            "ATTESTATION_REFUSED",
            f"The attestation of the signer is refused: {', '.join(reasons)}; nothing was written.",
            "Sign the message of the body under the group key of the tip, see `author.attest`.",
        )
