"""AMP transitions in Spark: what counts at a parent is what the plain functions say, in rows without lists."""

from uuid import UUID

from pyspark.sql.types import ArrayType, MapType

from strandline.dialects.aura.codec import content_json
from strandline.dialects.aura.reduce.contexts.transitions import Parent
from strandline.dialects.aura.spark.contexts import bindings, transitions
from support.aura_cases import b32
from support.context_cases import NAMESPACE
from unit.aura.test_transitions import CASES, OTHER, channel
from unit.aura.test_transitions import certified as certificate

GRANTED_DDL = (
    "namespace string, bucket int, body_id binary, fact_id binary, variant string, content_json string, "
    "attestors array<string>, quorum int"
)
PARENT = Parent(0, b32(0x40))


def granted_rows(number, given):
    """The bodies of a case; the bucket tells the case, for the id of a transition has that of the context."""
    for fact in given:
        attestors = sorted(str(UUID(bytes=each.authority)) for each in fact.attest)
        yield (
            NAMESPACE.text, number, fact.body_id, fact.fact_id, fact.variant, content_json(fact), attestors, 2
        )  # fmt: skip


def stated(found):
    """What the plain functions say: live, finalized, and where the one leads."""
    is_live, is_final = found.status == "A2Live", found.status == "A3Finalized"
    [live_id] = found.live if is_live else [None]
    [final_to] = found.final.values() if is_final else [None]
    return is_live, is_final, live_id, final_to


def test_the_cases_of_one_parent_are_those_of_the_plain_functions(spark):
    # What is proven is proven for all cases: they are of one context.
    cases = [given for name, (given, _) in CASES.items() if name != "F1 without consensus"]
    cases.append([*CASES["C1 C2 S12"][0], certificate(0x71, OTHER)])
    rows = [row for number, given in enumerate(cases) for row in granted_rows(number, given)]
    granted = spark.createDataFrame(rows, GRANTED_DDL)
    found = transitions.moves(granted, bindings.proven_pairs(granted))
    assert not [field.name for field in found.schema if isinstance(field.dataType, ArrayType | MapType)]
    made = {
        row["bucket"]: (
            row["is_live"], row["is_finalized"], bytes(row["live_id"]) if row["is_live"] else None,
            bytes(row["final_to"]) if row["is_finalized"] else None,
        )
        for row in found.collect()
    }  # fmt: skip
    assert made == {number: stated(channel(*given).transitions[PARENT]) for number, given in enumerate(cases)}
