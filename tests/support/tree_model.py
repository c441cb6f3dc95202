"""The trees of checkpoints by their rules, in memory: what `checkpoint` must write."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from strandline.core.ids import bucket_of
from strandline.core.notes import TreeHead, log_name, open_note
from strandline.pipelines.checkpoint_request import Signer
from support.places import BUCKETS
from support.trees import tree_root

SIGNER = Signer("demo.example/strandline", b"\x07" * 32)
OTHER_SIGNER = Signer("demo.example/strandline", b"\x08" * 32)


@dataclass
class TreeModel:
    """The leaves of namespaces in their order, and their rows: (seq, size, root, prev_size, prev_root)."""

    leaves: dict[str, list[bytes]] = field(default_factory=dict)
    rows: dict[str, list[tuple]] = field(default_factory=dict)
    signers: dict[tuple[str, int], Signer | None] = field(default_factory=dict)

    def grow(self, records: Mapping[str, Iterable[bytes]], signer: Signer | None = None) -> int:
        """Write a checkpoint of each namespace that has news or another signer; return how many."""
        written = 0
        for namespace, ids in records.items():
            leaves, rows = self.leaves.setdefault(namespace, []), self.rows.setdefault(namespace, [])
            news = sorted(set(ids) - set(leaves))
            before = self.signers.get((namespace, len(rows)))
            if not news and (signer is None or before == signer):
                continue
            prev = rows[-1][1:3] if rows else (0, tree_root([]))
            leaves += news
            rows.append((len(rows) + 1, len(leaves), tree_root(leaves), *prev))
            self.signers[namespace, len(rows)] = signer
            written += 1
        return written

    def assert_written(self, lake) -> None:
        """The lake has these rows, leaves at these places, and notes that open."""
        stated = lake.rows(
            "checkpoint", "namespace", "seq", "size", "root", "prev_size", "prev_root", "bucket", "attempt", "origin",
            "public_key", "note",
        )  # fmt: skip
        expected = {
            (name, *row, bucket_of(name, BUCKETS)) for name, rows in self.rows.items() for row in rows
        }
        assert {row[:7] for row in stated} == expected
        assert len(stated) == len(expected)
        attempts = {(row[0], row[7]) for row in stated}
        leaves = {
            (namespace, position, record_id)
            for namespace, attempt, position, record_id in lake.rows(
                "checkpoint_leaf", "namespace", "attempt", "position", "record_id"
            )
            if (namespace, attempt) in attempts
        }
        assert leaves == {
            (namespace, position, each)
            for namespace, found in self.leaves.items()
            for position, each in enumerate(found)
        }
        for namespace, seq, size, root, *_, origin, key, note in stated:
            signer = self.signers[namespace, seq]
            if signer is None:
                assert (origin, key, note) == (None, None, None)
                continue
            assert (origin, key) == (signer.origin, signer.public_key)
            name = log_name(origin, namespace)
            assert open_note(note, name, key) == TreeHead(name, size, root)
