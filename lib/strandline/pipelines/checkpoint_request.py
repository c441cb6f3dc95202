"""What `checkpoint` is asked for."""

from __future__ import annotations

from dataclasses import dataclass, field

from strandline.core.ed25519 import Ed25519Key


@dataclass(frozen=True, slots=True)
class Signer:
    """Who signs trees: the origin in the names of logs, and the key. The seed is never shown."""

    origin: str
    seed: bytes = field(repr=False)

    @property
    def public_key(self) -> bytes:
        """The public key, 32 bytes."""
        return Ed25519Key(self.seed).public


@dataclass(frozen=True, slots=True)
class CheckpointRequest:
    """Dialects and namespaces (none: all), the signer or None, and whether all trees are compared.

    Without `compares_all`, a namespace whose number of records is that of its tree is not looked at.
    """

    dialects: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    signer: Signer | None = None
    compares_all: bool = False

    @property
    def excluded(self) -> tuple[str, ...]:
        """The namespaces that are left out: none."""
        return ()
