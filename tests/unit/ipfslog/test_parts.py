"""Rows of logs, read in part, give what the reference gives of the same entries."""

import random

import pyarrow as pa
import pytest

from strandline.core.errors import UsageError
from strandline.dialects.ipfslog import kernels
from strandline.dialects.ipfslog.reduce import Dag, UnknownEntry, iterate, node_of, traverse
from support.ipfslog_cases import dag, document, lies, names
from support.log_parts import drawn_reads, rows_of, taken
from support.random_logs import random_log

READS = document()["dag"]["reads"]


def read(made, handler, **asked):
    """The ids that a table function gives, its rows in several batches."""
    function, rows = handler(), pa.RecordBatch.from_pylist(rows_of(made))
    for start in range(0, rows.num_rows, 4):
        batch = rows.slice(start, 4)
        function.eval(batch, **{name: pa.array([value] * batch.num_rows) for name, value in asked.items()})
    found = pa.concat_tables(function.terminate()).to_pylist()
    assert [row["step"] for row in found] == list(range(1, len(found) + 1))
    by_id = {each.record_id.hex(): each.cid for each in made}
    assert all(by_id[row["record_id"]] == row["cid"] for row in found)
    return [bytes.fromhex(row["record_id"]) for row in found]


@pytest.mark.parametrize("variant", ["v2", "core2"])
def test_the_published_dag_is_read_as_it_says(variant):
    made = dag(variant)
    entries, expected = list(made.values()), READS[variant]
    cid = {name: each.cid for name, each in made.items()}
    assert names(made, reversed(read(entries, kernels.Iterate))) == expected["values"]
    assert names(made, read(entries, kernels.Iterate, lte=cid["c2"])) == expected["lte c2"]
    assert names(made, read(entries, kernels.Iterate, lt=cid["c2"], gt=None)) == expected["lt c2"]
    assert names(made, read(entries, kernels.Iterate, gt=cid["a2"], amount=2)) == expected["gt a2, amount 2"]
    several = f"{cid['c2']} , {cid['a4']}"
    ids = [made["c2"].record_id, made["a4"].record_id]
    reference = Dag(map(node_of, entries))
    assert read(entries, kernels.Traverse, roots=several, amount=4) == reference.walk(ids, 4)


@pytest.mark.large
@pytest.mark.parametrize("seed", range(40))
def test_every_part_of_a_random_log_is_that_of_the_reference(seed):
    made = [entry for batch in random_log(seed, 1).batches for entry in batch]
    reference = Dag(map(node_of, made))
    for name, asked in drawn_reads(random.Random(seed), reference):
        as_sql = {key: ",".join(value) if isinstance(value, list) else value for key, value in asked.items()}
        handler = {"iterate": kernels.Iterate, "traverse": kernels.Traverse}[name]
        assert read(made, handler, **as_sql) == taken(reference, name, asked)


def test_a_function_of_no_rows_gives_none_and_what_the_log_lacks_or_is_asked_twice_is_refused():
    entries = [*dag("v2").values()]
    assert list(kernels.Iterate().terminate()) == []
    with pytest.raises(UnknownEntry):
        read(entries, kernels.Traverse, roots=lies("v2")["A"].cid)
    with pytest.raises(UsageError, match="one lower and one upper"):
        read(entries, kernels.Iterate, gt=entries[0].cid, gte=entries[0].cid)


WHOLE = rows_of(list(dag("v2").values()))
OTHER = [row | {"namespace": "log:other"} for row in WHOLE]
LAST = max(row["position"] for row in WHOLE)
AS_MANY = [
    *(row for row in WHOLE if row["position"] < LAST),
    *(row for row in OTHER if row["position"] == LAST),
]
"""Of two logs together as many as the greatest position says."""


@pytest.mark.parametrize("rows", [WHOLE[1:], WHOLE[5:], [*WHOLE, *OTHER], AS_MANY])
def test_what_is_not_one_whole_log_is_refused(rows):
    function = kernels.Iterate()
    function.eval(pa.RecordBatch.from_pylist(rows))
    with pytest.raises(UsageError, match="not one whole log") as refused:
        list(function.terminate())
    assert refused.value.code == "LOG_NOT_WHOLE"


def test_the_reference_of_the_drawn_reads_takes_every_kind_of_bound():
    reference = Dag(map(node_of, dag("v2").values()))
    drawn = [drawn_reads(random.Random(seed), reference) for seed in range(40)]
    asked = {(name, key) for reads in drawn for name, each in reads for key in each}
    assert {key for name, key in asked if name == "iterate"} == {"gt", "gte", "lt", "lte", "amount"}
    assert {key for name, key in asked if name == "traverse"} == {"roots", "amount", "end"}
    assert iterate(reference)[0] == traverse(reference)[0]
