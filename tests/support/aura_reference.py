"""A lake of Aura journals in plain Python: what every table must hold after any number of ingests."""

import json
from dataclasses import asdict, fields
from decimal import Decimal
from uuid import UUID

from strandline.dialects.aura.codec import content_json, read_documents, timestamp_json
from strandline.dialects.aura.kernels.reduced_rows import fork_rows, leaf_rows, operation_row, state_columns
from strandline.dialects.aura.reduce import REDUCER, reduce_authority
from strandline.dialects.aura.reduce.contexts.forks import snapshot_forks, state_inputs
from strandline.dialects.aura.reduce.contexts.snapshots import judge_snapshots
from strandline.dialects.aura.types import DIALECT
from strandline.dialects.aura.verify import AcceptedFacts, Counts, judge
from support.context_reference import by_namespace, contexts_rows, snapshot_rows
from support.lakes import counted
from support.places import place
from support.reference_rows import assert_quarantine_equal, keep, tuples

NAMES = [field.name for field in fields(Counts)]
FORMATS = {"jsonl": "lines", "ndjson": "lines", "json": "json", "cbor": "cbor"}
DERIVED = (
    "anchor", "group_key", "witness_threshold", "height", "new_epoch", "new_commitment", "new_tree_commitment",
    "new_group_key", "new_threshold", "new_min_signers", "new_max_signers",
)  # fmt: skip


def fact_row(fact, op=None):
    """An accepted fact as a row of `aura_fact`, with what admission adds to an operation."""
    [(timestamp_kind, timestamp)] = json.loads(timestamp_json(fact)).items()
    ms = next((timestamp[name] for name in ("ts_ms", "earliest_ms") if name in timestamp), None)
    row = {
        **place(fact.namespace), "record_id": fact.fact_id, "body_id": fact.body_id, "order_token": fact.order,
        "kind": fact.kind, "variant": fact.variant, "timestamp_kind": timestamp_kind,
        "timestamp_ms": None if ms is None else Decimal(ms), "timestamp_json": timestamp_json(fact),
        "content_json": content_json(fact),
        "attest": [(str(UUID(bytes=each.authority)), each.commitment, each.sig) for each in fact.attest],
        "op_id": fact.op_id, "parent_commitment": None, "parent_epoch": None, "signer_count": None,
        **dict.fromkeys(DERIVED), "fact_cbor": fact.cbor,
    }  # fmt: skip
    if op is not None:
        tree_op = fact.attested.op
        row |= {name: getattr(op, name) for name in DERIVED}
        row |= {
            "parent_commitment": tree_op.parent_commitment, "parent_epoch": Decimal(tree_op.parent_epoch),
            "signer_count": fact.attested.signer_count, "height": Decimal(op.height),
            "new_epoch": Decimal(op.new_epoch),
        }  # fmt: skip
    return row


def reduced_rows(namespace, facts):
    """The rows of an authority by table, from its accepted facts: every operation is applied again."""
    judged = judge_snapshots(namespace, facts)
    found, here = reduce_authority(namespace, facts, judged.base), place(namespace)
    inputs = {
        (namespace.id, commitment): data
        for commitment, data in state_inputs(row.op for row in found.chain.rows.values()).items()
    }
    tips = [
        asdict(each) | here | {"members": list(each.members)}
        for each in snapshot_forks(namespace, judged, inputs)
    ]
    state = here | {
        "dialect": DIALECT, "record_count": len(facts), "state_hash": found.state_hash, "reducer_version": REDUCER,
        "depends_on": None,
    }  # fmt: skip
    return {
        "authority_state": [here | state_columns(found)],
        "authority_leaf": [here | row for row in leaf_rows(found.state)],
        "attested_op": [here | operation_row(row) for row in found.chain.rows.values()],
        "equivocation": [*(here | row for row in fork_rows(namespace, found)), *tips],
        **snapshot_rows(namespace, facts, judged, REDUCER),
        "namespace_state": [state],
    }


class ReferenceAura:
    """Ingests files, each run judged by `judge`."""

    def __init__(self, pins=None):
        self.pins = pins
        self.transitions = False
        self.accepted = AcceptedFacts()
        self.operations = {}
        self.rejected = {}
        self.waiting = {}

    def ingest(self, files):
        documents = [
            document
            for name in sorted(files)
            for document in read_documents(
                files[name], FORMATS[name.rpartition(".")[2]], transitions=self.transitions
            )
        ]
        judgement = judge(documents, self.accepted, self.pins)
        self.accepted, self.operations = judgement.accepted, judgement.admission.operations
        for row in judgement.quarantine:
            if row.status == "rejected":
                keep(self.rejected, DIALECT, row.namespace, row, row.raw, row.record_id)
        self.waiting = {}
        for fact in self.accepted.waiting.values():
            verdict = judgement.admission.verdicts[fact.fact_id]
            keep(self.waiting, DIALECT, fact.namespace.text, verdict, fact.cbor, fact.fact_id)
        return judgement.counts

    def rows(self):
        """The rows of `aura_fact`."""
        return [fact_row(fact, self.operations.get(id_)) for id_, fact in self.accepted.facts.items()]

    def reduced(self):
        """The rows of the reduced tables."""
        found = {"snapshot": []}
        journals = by_namespace(self.accepted.facts.values())
        for namespace, facts in journals.items():
            if namespace.kind == "authority":
                for table, rows in reduced_rows(namespace, facts).items():
                    found.setdefault(table, []).extend(rows)
        for table, rows in contexts_rows(journals, self.operations.values()).items():
            found.setdefault(table, []).extend(rows)
        return found


def assert_admitted_equal(lake, reference):
    """Facts and rows of quarantine with their evidence are those of the reference."""
    assert lake.rows("aura_fact") == tuples("aura_fact", reference.rows())
    assert_quarantine_equal(lake, reference.rejected, reference.waiting)


def told(report):
    """The counts of a report as the reference counts."""
    return Counts(**counted(report, NAMES))
