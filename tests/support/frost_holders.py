"""Holders of keys of FROST(Ed25519, SHA-512), RFC 9591: real rounds by the crate frost-ed25519, in `tests/frost`.

`PYTHONPATH=tests .venv/bin/python -m support.frost_holders` writes `tests/vectors/aura/frost.jsonl` again; the keys and
nonces are random, so every time with other bytes.
"""

import subprocess
from contextlib import AbstractContextManager
from pathlib import Path

from strandline.dialects.aura import author
from strandline.dialects.aura.codec import to_json
from strandline.dialects.aura.types import ALL, ANY, AddLeaf, ChangePolicy, KeyRecord, RekeyLeaf, RotateEpoch
from strandline.dialects.aura.verify import EMPTY
from support.aura_cases import after, at, b32, device

ROOT = Path(__file__).parents[2]
VECTORS = ROOT / "tests" / "vectors" / "aura" / "frost.jsonl"
CARGO = (
    "cargo", "run", "--quiet", "--locked", "--manifest-path", str(ROOT / "tests" / "frost" / "Cargo.toml"),
    "--target-dir", str(ROOT / "build" / "frost"), "--",
)  # fmt: skip


class Holders(AbstractContextManager["Holders"]):
    """A group of holders in a process of their own. `public` is their key; `sign` asks the holders in `signers`."""

    def __init__(self, least: int, most: int) -> None:
        self.least, self.most = least, most
        self.signers = tuple(range(1, least + 1))
        self._process = subprocess.Popen(
            [*CARGO, str(least), str(most)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.public = bytes.fromhex(self._answer())

    def __exit__(self, *_: object) -> None:
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    @property
    def key(self) -> KeyRecord:
        """The key record that names these holders."""
        return KeyRecord(self.public, self.least, self.most)

    def sign(self, message: bytes) -> bytes:
        """Return the signature of two rounds. Raises: ValueError, the holders make none."""
        print(",".join(map(str, self.signers)), message.hex(), file=self._process.stdin, flush=True)
        answer = self._answer()
        if answer.startswith("error: "):
            raise ValueError(answer)
        return bytes.fromhex(answer)

    def _answer(self) -> str:
        return self._process.stdout.readline().strip()


def history(first: Holders, second: Holders):
    """The facts of an authority whose key two of three hold, then three of four: its state, and a fact it attests."""
    first.signers = (2, 3)
    facts = [
        author.genesis(
            first, min_signers=first.least, max_signers=first.most, policy=ANY, salt=bytes(16),
            signer_count=first.least, **at(1),
        )
    ]  # fmt: skip
    state = after(EMPTY, facts[0])
    for number, (holders, signers, operation) in enumerate(
        (
            (first, (1, 3), AddLeaf(device(0, 0x11), 0)),
            (first, (2, 3), AddLeaf(device(1, 0x22), 0)),
            (first, (1, 2, 3), ChangePolicy(0, ALL)),
            (first, (1, 2), RotateEpoch((0,), second.key)),
            (second, (1, 2, 4), RekeyLeaf(0, b32(0x33))),
        ),
        start=2,
    ):
        holders.signers = signers
        namespace = facts[0].namespace
        facts.append(
            author.append(
                namespace, state, operation, signer=holders, signer_count=len(signers), **at(number)
            )
        )
        state = after(state, facts[-1])
    whole = author.snapshot(
        facts[0].namespace, sequence=1, state_hash=bytes(32), supersedes=facts, **at(0x20)
    )
    return [*facts, author.attest(whole, facts[0].namespace.id, state.commitment, second)], state


if __name__ == "__main__":
    with Holders(2, 3) as one, Holders(3, 4) as other:
        VECTORS.write_text("".join(to_json(fact) + "\n" for fact in history(one, other)[0]), "utf-8")
