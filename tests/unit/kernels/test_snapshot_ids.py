"""Ids of snapshots, skeletons and carries over batches are those of the plain functions."""

from decimal import Decimal

import pyarrow as pa

from strandline.core.pruning import snapshot_id
from strandline.dialects.ipfslog import kernels
from strandline.dialects.ipfslog.reduce import LogConfiguration, carry_of, encode_carry, encode_skeleton
from strandline.kernels.snapshots import snapshot_ids
from support.context_cases import context_vectors
from support.ipfslog_cases import dag

VECTORS = context_vectors()["pruning"]


def rows(kernel, given):
    return [row for each in kernel([pa.RecordBatch.from_pylist(given)]) for row in each.to_pylist()]


def test_the_id_of_the_vectors():
    stated = {
        "namespace": VECTORS["namespace"], "sequence": Decimal(1), "base": None,
        **{name: bytes.fromhex(VECTORS[of]) for name, of in (
            ("state_hash", "state_hash"), ("members_digest", "members"), ("prune_digest", "prune"), ("carry", "carry"),
        )},
    }  # fmt: skip
    later = stated | {"sequence": Decimal(2**64 - 1), "base": bytes(32)}
    first, second = rows(snapshot_ids, [stated, later])
    assert first == {"namespace": VECTORS["namespace"], "snapshot_id": bytes.fromhex(VECTORS["snapshot_id"])}
    assert second["snapshot_id"] == snapshot_id(
        namespace=later["namespace"], sequence=2**64 - 1, base=bytes(32), state_hash=later["state_hash"],
        members=later["members_digest"], prune=later["prune_digest"], carry=later["carry"],
    )  # fmt: skip
    none = pa.RecordBatch.from_pylist([stated]).slice(0, 0)
    assert list(snapshot_ids([none])) == []


def test_skeletons_and_carries_of_logs():
    made = [*dag("v2").values(), *dag("core2").values()]
    given = [
        {name: getattr(entry, name) for name in kernels.ENTRY_COLUMNS} | {"next": list(entry.next)}
        for entry in made
    ]
    found = rows(kernels.encoded_skeletons, given)
    assert [row["skeleton"] for row in found] == [encode_skeleton(entry) for entry in made]
    told = {"namespace": "log:a", "store": "keyvalue", "write": ["x", "key:02", "x"], "pruned": 3}
    [carry] = rows(kernels.carries, [told])
    assert carry["carry"] == encode_carry(carry_of(LogConfiguration("keyvalue", ("key:02", "x")), 3))
