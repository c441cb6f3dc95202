"""Evidence of forks from batches is that of the plain functions."""

from dataclasses import fields
from uuid import UUID

import pyarrow as pa

from strandline.core.equivocation import Equivocation
from strandline.dialects.aura import kernels
from strandline.dialects.aura.reduce.contexts.forks import attested_forks
from strandline.dialects.aura.verify import admit
from support.aura_cases import U, facts, other_authority
from support.aura_reference import fact_row
from support.context_cases import NAMESPACE
from unit.aura.test_context_forks import inputs
from unit.aura.test_contexts import checkpoint, consensus


def test_state_inputs_from_stored_columns():
    given = [*facts().values(), other_authority()]
    operations = admit(given).operations.values()
    rows = [{**fact_row(op.fact, op)} for op in operations]
    rows.sort(key=lambda row: row["namespace"])
    columns = {name: [row.get(name) for row in rows] for name in kernels.STATE_INPUT_COLUMNS}
    batch = pa.RecordBatch.from_pydict(columns)
    found = {
        (row["authority"], row["commitment"]): row["input"]
        for each in kernels.state_inputs([batch.slice(0, 3), batch.slice(3)])
        for row in each.to_pylist()
    }
    assert found == {(str(UUID(bytes=authority)), each): data for (authority, each), data in inputs().items()}
    assert {authority for authority, _ in found} >= {str(UUID(bytes=U.id))}


def test_rows_of_forks():
    given = [
        consensus(0x10, 0, 0xB0),
        consensus(0x11, 0, 0xB1),
        checkpoint(0x12, 0, 7, 1),
        checkpoint(0x13, 0, 7, 2),
    ]
    by_id = {fact.fact_id: fact for fact in given}
    expected = list(attested_forks(NAMESPACE, given, inputs()))
    rows = []
    for row in expected:
        first, second = sorted(row.members)[:2]
        states = [
            {"commitment": each.commitment, "input": inputs()[each.authority, each.commitment]}
            for fact in (by_id[first], by_id[second])
            for each in fact.attest
            if str_of(each.authority) == row.key
        ]
        rows.append(
            {
                "namespace": row.namespace, "bucket": 3, "kind": row.kind, "key": row.key, "position": row.position,
                "members": list(row.members), "member_count": row.member_count, "id_a": first,
                "bytes_a": by_id[first].cbor, "id_b": second, "bytes_b": by_id[second].cbor, "states": states,
            }
        )  # fmt: skip
    batch = pa.RecordBatch.from_pylist(rows)
    found = [row for each in kernels.fork_rows([batch]) for row in each.to_pylist()]
    assert [row.pop("bucket") for row in found] == [3] * len(expected)
    names = [field.name for field in fields(Equivocation)]
    assert [{**row, "members": tuple(row["members"])} for row in found] == [
        {name: getattr(row, name) for name in names} for row in expected
    ]


def str_of(raw):
    return str(UUID(bytes=raw))
