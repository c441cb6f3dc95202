"""Kernels of facts: files, verdicts and reduced rows, batch by batch, as the plain functions give them."""

import gzip
import json
from random import Random

import pyarrow as pa
import pytest

from strandline.core.hashing import tagged
from strandline.core.verdict import encode_evidence
from strandline.dialects.aura import author, kernels
from strandline.dialects.aura.codec import read_documents, to_json
from strandline.dialects.aura.types import AddLeaf, FactDocument, Unreadable
from strandline.dialects.aura.verify import admit, authorities
from strandline.kernels import blocks
from strandline.kernels.containers import StreamLimits
from strandline.kernels.lines import RawLimits
from strandline.kernels.pieces import Pieces
from strandline.kernels.reading import ReadOptions, read_one
from support import aura_corpus
from support.aura_attacks import snapshot
from support.aura_cases import K1, U, after, device, facts, refused, second_context, signed, states

OPTIONS = ReadOptions({}, StreamLimits(2**36, 100), RawLimits(4 * 2**20, 2**16))


def rows_of(content, form, options=OPTIONS):
    """The pieces of a file."""
    pieces = Pieces(blocks.BLOCK_FIELDS)
    for _ in read_one(0, content, pieces, options, kernels.read_content, form):
        pass
    return [row for batch in pieces.rest() for row in batch.to_pylist()]


def told(document):
    if isinstance(document, FactDocument):
        fact = document.fact
        return "block", fact.namespace.text, fact.fact_id, fact.cbor, None, None, document.offset
    namespace = None if document.namespace is None else document.namespace.text
    evidence = encode_evidence(document.evidence)
    return None, namespace, None, document.raw, ",".join(document.reasons), evidence, document.offset


def seen(row):
    names = ("kind", "namespace", "record_id", "raw", "damage", "evidence", "offset")
    return tuple(row[name] for name in names)


FORMS = {"jsonl": "lines", "ndjson": "lines", "json": "json", "cbor": "cbor"}


def test_a_fact_is_read_whole_however_little_is_kept_of_what_is_refused():
    little = ReadOptions({}, OPTIONS.stream, RawLimits(10, 4))
    for run in aura_corpus.corpus(5, 2, 6):
        for name, content in run.items():
            form = FORMS[name.rpartition(".")[2]]
            all_kept, found = ([*map(seen, rows_of(content, form, each))] for each in (OPTIONS, little))
            assert [row for row in found if row[0] == "block"] == [
                row for row in all_kept if row[0] == "block"
            ]
            assert len(found) == len(all_kept)


@pytest.mark.large
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_files_have_the_documents_that_the_plain_reader_gives(pack):
    count = 0
    for run in aura_corpus.corpus(5, 12, 6):
        for name, content in run.items():
            form = FORMS[name.rpartition(".")[2]]
            expected = list(map(told, read_documents(content, form)))
            assert list(map(seen, rows_of(pack(content), form))) == expected
            count += len(expected)
    assert count > 300


@pytest.mark.large
def test_a_sequence_is_read_item_by_item_across_blocks_and_its_rest_is_one_record():
    one = facts()["A0"].cbor
    long = b"\x5a" + (3 * 2**20).to_bytes(4, "big") + bytes(3 * 2**20)
    for rest, cause in ((b"", None), (b"\xff", "syntax"), (one[:-1], "cut")):
        content = one * 3_000 + long + one * 3_000 + rest
        rows = rows_of(content, "cbor")
        assert [row["damage"] for row in rows].count("FACT_TOO_LARGE") == 1
        assert sum(row["kind"] == "block" for row in rows) == 6_000
        assert len(rows) == 6_001 + bool(rest)
        if cause:
            assert (rows[-1]["damage"], json.loads(rows[-1]["evidence"])) == (
                "CBOR_INVALID", {"CBOR_INVALID": {"cause": cause}},
            )  # fmt: skip
            assert rows[-1]["raw"] == rest
            assert rows[-1]["offset"] == len(content) - len(rest)


def test_a_document_over_its_limit_is_one_rejected_record(monkeypatch):
    monkeypatch.setattr("strandline.dialects.aura.kernels.documents.MAX_FILE_BYTES", 1_000)
    [row] = rows_of(aura_corpus.journal([facts()["G"], facts()["A0"]]), "json")
    assert row["damage"] == "FILE_TOO_LARGE"


def replayed(row):
    """What a rejected row is when it is judged again."""
    asked = {**row, "record_id": None, "reasons": row["damage"]}
    batch = pa.RecordBatch.from_pylist([asked])
    pieces = Pieces(blocks.BLOCK_FIELDS)
    for row_ in batch.to_pylist():
        for _ in kernels.replay(row_, pieces, OPTIONS):
            pass
    return [each for found in pieces.rest() for each in found.to_pylist()]


@pytest.mark.large
def test_rejected_rows_judged_again_stay_as_they_are():
    bad = 0
    for run in aura_corpus.corpus(6, 8, 4):
        for name, content in run.items():
            for row in rows_of(content, FORMS[name.rpartition(".")[2]]):
                if row["damage"]:
                    bad += 1
                    [again] = replayed(row)
                    assert [again[name] for name in ("damage", "evidence", "namespace", "raw")] == [
                        row[name] for name in ("damage", "evidence", "namespace", "raw")
                    ]
    assert bad > 100


@pytest.mark.parametrize(
    ("content", "form", "code"),
    [
        (b'\xa5"order":1}\n', "lines", "JSON_INVALID"),
        (b"\xa1\x01\x02", "lines", "JSON_INVALID,TRUNCATED"),
        (b'\xbf"facts":[]}', "json", "JSON_INVALID"),
        (b'{"facts":[{}]', "cbor", "CBOR_INVALID"),
        (b"{", "cbor", "CBOR_INVALID"),
    ],
)
def test_damaged_bytes_of_one_format_that_begin_like_another_stay_as_they_are(content, form, code):
    [row] = rows_of(content, form)
    [again] = replayed(row)
    assert row["damage"] == code
    assert [again[name] for name in ("damage", "evidence", "raw")] == [
        row[name] for name in ("damage", "evidence", "raw")
    ]


def test_a_fact_that_stood_alone_in_a_document_is_not_accepted_by_a_replay():
    [row] = rows_of(to_json(facts()["A0"]).encode(), "json")
    assert row["damage"] == "FIELD_UNKNOWN"
    [again] = replayed(row)
    assert again["damage"] == "FIELD_UNKNOWN"


def test_a_row_that_new_rules_read_becomes_a_fact():
    fact = facts()["A0"]
    for raw, namespace in (
        (fact.cbor, None),
        (to_json(fact).encode(), None),
        (to_json(fact).encode(), U.text),
    ):
        row = {
            "raw": raw,
            "namespace": namespace,
            "damage": "VARIANT_UNKNOWN",
            "evidence": None,
            "file_no": 1,
        }
        [again] = replayed(row)
        assert (again["kind"], again["record_id"]) == ("block", fact.fact_id)


def judged(facts_of_lake):
    return {fact.fact_id: kernels.judge(fact.cbor, {}, OPTIONS) for fact in facts_of_lake}


def groups(candidates, stored):
    """Rows of the kernel of histories, cut into batches of three rows."""
    rows = [(fact, False) for fact in candidates] + [(fact, True) for fact in stored]
    rows.sort(key=lambda each: each[0].namespace.text)
    listed = [
        dict.fromkeys(kernels.GROUP_COLUMNS)
        | {
            "namespace": fact.namespace.text,
            "judge_id": fact.fact_id,
            "parent_commitment": None if fact.attested is None else fact.attested.op.parent_commitment,
            "block": fact.cbor,
            "is_stored": is_stored,
        }
        for fact, is_stored in rows
    ]
    for at in range(0, len(listed), 3):
        yield pa.RecordBatch.from_pylist(listed[at : at + 3])


def is_history(fact):
    return fact.attested is not None or fact.variant == "ContextGenesis"


@pytest.mark.large
def test_histories_have_the_verdicts_and_columns_of_the_reference_however_they_are_split():
    draw = Random(4)
    documents = [
        document.fact
        for run in aura_corpus.corpus(9, 20, 8)
        for name, content in run.items()
        for document in read_documents(content, FORMS[name.rpartition(".")[2]])
        if isinstance(document, FactDocument)
    ]
    valid = {fact.fact_id: fact for fact in documents if not judged([fact])[fact.fact_id]["reasons"]}
    histories = [fact for fact in valid.values() if is_history(fact)]
    accepted = {id_ for id_, verdict in admit(histories).verdicts.items() if verdict.status == "accepted"}
    stored = [fact for fact in histories if fact.fact_id in accepted and draw.random() < 0.5]
    before = admit(stored)
    stored = [fact for fact in stored if before.verdicts[fact.fact_id].status == "accepted"]
    fresh = [fact for fact in histories if fact not in stored]
    expected = admit(fresh, stored)
    rows = {
        row["judge_id"]: row
        for batch in kernels.admitted(groups(fresh, stored), pins={})
        for row in batch.to_pylist()
    }
    assert rows.keys() == {fact.fact_id for fact in fresh}
    for fact in fresh:
        row, verdict = rows[fact.fact_id], expected.verdicts[fact.fact_id]
        assert (row["status"], tuple(row["found"]), tuple(row["awaited"])) == (
            verdict.status, verdict.reasons, verdict.waits_for,
        )  # fmt: skip
        op = expected.operations.get(fact.fact_id)
        assert row["new_commitment"] == (None if op is None else op.new_commitment)
        assert row["namespace"] == fact.namespace.text


def test_pins_admit_a_genesis_and_refuse_another():
    genesis = facts()["G"]
    [batch] = kernels.admitted(groups([genesis], []), pins={U.text: genesis.op_id})
    assert batch.to_pylist()[0]["anchor"] == "self"
    [batch] = kernels.admitted(groups([genesis], []), pins={U.text: bytes(32)})
    assert batch.to_pylist()[0]["found"] == ["GENESIS_PIN_MISMATCH"]


def test_a_bug_makes_the_candidates_of_one_namespace_wait(monkeypatch):
    def broken(*_):
        raise RuntimeError

    given = [facts()["G"], facts()["A0"], facts()["A1"], facts()["P"], second_context()["g"]]

    def told():
        rows = [row for batch in kernels.admitted(groups(given, []), pins={}) for row in batch.to_pylist()]
        assert sorted(row["judge_id"] for row in rows) == sorted(fact.fact_id for fact in given)
        return {row["judge_id"]: (row["status"], *row["found"], *row["awaited"]) for row in rows}

    fault, expected = (
        ("deferred", "INTERNAL_ERROR", "rules:2"),
        dict.fromkeys((fact.fact_id for fact in given), ("accepted",)),
    )
    # At the start, in the middle of a history, in a context.
    for place, ids in (
        ("admission.judge_operations", given[:4]),
        ("admission.derived", given[:4]),
        ("admission.admit", given[4:]),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(f"strandline.dialects.aura.kernels.{place}", broken)
            assert told() == expected | dict.fromkeys((fact.fact_id for fact in ids), fault)
    with monkeypatch.context() as patch:
        third = facts()["A1"]
        patch.setattr(authorities, "judge_op", lambda fact, *_: broken() if fact == third else [])
        assert told() == expected | dict.fromkeys((fact.fact_id for fact in given[2:4]), fault)


def test_an_attested_fact_is_judged_by_the_states_that_were_found():
    binding, genesis = second_context()["b1"], second_context()["g"]
    named = judged([binding])[binding.fact_id]["named_states"]
    tip = states()["Kp"]
    known = {"authority": U.text, "commitment": tip.commitment, "epoch": 1, "group_key": tip.key.group_key}
    base = {"judge_id": binding.fact_id, "block": binding.cbor}
    schema = pa.schema(
        [
            pa.field("judge_id", pa.binary()), pa.field("block", pa.binary()), pa.field("genesis", pa.string()),
            pa.field("states", pa.list_(kernels.KNOWN_STATE)),
        ]
    )  # fmt: skip
    rows = [
        base,
        base | {"genesis": kernels.fact_columns(genesis)["content_json"]},
        base | {"genesis": kernels.fact_columns(genesis)["content_json"], "states": [known]},
    ]
    batch = pa.RecordBatch.from_pylist(rows, schema=schema)
    [found] = kernels.attested([batch])
    [no_genesis, no_state, one_state] = found.to_pylist()
    assert no_genesis["found"] == ["CONTEXT_GENESIS_MISSING"]
    assert len(named) == 2
    assert len(no_state["awaited"]) == 2
    assert [each.rpartition("#")[0] for each in one_state["awaited"]] == [
        f"state:{each['authority']}" for each in named if each["authority"] != U.text
    ]
    assert no_state["shown"] == one_state["shown"], "evidence does not depend on what is known"


@pytest.mark.parametrize("form", ["lines", "json", "cbor"])
def test_packed_facts_read_as_they_were_in_every_format(form, monkeypatch):
    monkeypatch.setattr("strandline.kernels.packing._PIECE_BYTES", 1_500)
    every = [*facts().values(), *(() if form == "json" else second_context().values())]
    batch = pa.RecordBatch.from_pylist(
        [{"fact_cbor": fact.cbor} for fact in every] + [{"fact_cbor": b"\x00"}]
    )
    pieces = [row for found in kernels.packed([batch], form=form) for row in found.to_pylist()]
    assert len(pieces) > 3
    content = kernels.SEPARATORS[form].join(row["content"] for row in pieces)
    if form == "json":
        content = b'{"namespace":"%s","facts":[%s]}' % (U.text.encode(), content)
    *read, last = read_documents(content, form)
    assert [document.fact.cbor for document in read] == [fact.cbor for fact in every]
    assert isinstance(last, Unreadable)
    assert sum(row["records"] for row in pieces) == len(every) + 1


def operation_rows(found, batch_rows=2):
    """Rows of the kernel of reduction."""
    from support.aura_reference import fact_row

    rows = [fact_row(op.fact, op) | {"is_base": False} for op in found.operations.values()]
    names = kernels.REDUCTION_COLUMNS
    for at in range(0, len(rows), batch_rows):
        yield pa.RecordBatch.from_pylist(
            [{name: row.get(name) for name in names} for row in rows[at : at + batch_rows]]
        )


def test_the_vectors_reduce_to_their_state():
    every = [*facts().values(), *refused().values()]
    [batch] = kernels.reduced(operation_rows(admit(every)), full=False)
    [row] = batch.to_pylist()
    assert row["state_hash"].hex() == "fd2202875a2b5c68eefe0b8c6c848ae9f6a06a160896e4ff79e22848a78033bf"
    assert row["state_hash"] == tagged("strandline/aura/authority-state/1", row["state_cbor"])
    assert (row["epoch"], row["threshold"], row["device_count"], row["height"]) == (1, 2, 2, 6)
    assert (row["fork_count"], row["superseded_count"], row["orphaned_count"]) == (1, 1, 2)
    outcomes = {each["op_id"]: each for each in row["operations"]}
    [lost] = [each for each in outcomes.values() if each["outcome"] == "superseded"]
    assert (lost["op_id"], lost["lost_to"]) == (facts()["X"].op_id, facts()["P"].op_id)
    assert outcomes[facts()["A0"].op_id]["fact_count"] == 2
    [fork] = row["forks"]
    assert sorted(fork["members"]) == sorted(facts()[name].fact_id for name in "PX")
    assert [leaf["leaf_id"] for leaf in row["leaves"]] == [0, 1]


def continued_rows(stored, given):
    """What the kernel makes of the new operations `given` after a reduced row, at most one row."""
    state = {name: stored[name] for name in ("namespace", "bucket", "state_cbor", *kernels.COUNTS)}
    rows = [dict.fromkeys(kernels.CONTINUED_COLUMNS) | row for row in (state, *given)]
    batch = pa.RecordBatch.from_pylist(
        [{name: row[name] for name in kernels.CONTINUED_COLUMNS} for row in rows]
    )
    return [row for found in kernels.continued([batch]) for row in found.to_pylist()]


def test_new_operations_after_the_stored_state_end_as_all_operations_do():
    rows = {
        row["new_commitment"]: row
        for batch in operation_rows(admit(facts().values()), 99)
        for row in batch.to_pylist()
    }
    rows = {name: rows[states()[name].commitment] for name in facts() if name != "A0'"}
    whole = reduced_row(list(rows.values()))

    def split(*old):
        stored = reduced_row([rows[name] for name in old])
        return stored, continued_rows(stored, [row for name, row in rows.items() if name not in old])

    for old in (("G",), ("G", "A0"), ("G", "A0", "A1")):
        stored, [row] = split(*old)
        assert row["forks"] == whole["forks"]
        joined = row | {"operations": stored["operations"] + row["operations"]}
        by_id = {each["op_id"]: each for each in joined["operations"]}
        assert len(by_id) == len(rows)
        assert [by_id[each["op_id"]] for each in whole["operations"]] == whole["operations"]
        assert joined | {"operations": None} == whole | {"operations": None}
    # A late sibling of a stored operation, a copy of one, or a damaged state: all operations are needed.
    stored, found = split("G", "A0", "A1", "P", "Rp", "Kp")
    assert found == []
    tip = reduced_row([row for name, row in rows.items() if name != "Kp"])
    assert [row["commitment"] for row in continued_rows(tip, [rows["Kp"]])] == [states()["Kp"].commitment]
    assert continued_rows(tip, [rows["Kp"], rows["Rp"]]) == []
    assert continued_rows(tip | {"state_cbor": b"\x07"}, [rows["Kp"]]) == []
    # News that are no operations leave the state as it is.
    assert [row["state_hash"] for row in continued_rows(whole, [])] == [whole["state_hash"]]


def test_a_damaged_column_is_not_believed():
    good = [row for batch in operation_rows(admit(facts().values()), 99) for row in batch.to_pylist()]
    expected = reduced_row(good)
    assert reduced_row(good, full=True) == expected
    assert not expected["is_damaged"]
    by_id = {row["new_commitment"]: row for row in good}
    for name in ("Kp", "P", "A0"):
        for new in (bytes(32), b"\x07" * 32, states()["G"].commitment):
            row = by_id[states()[name].commitment]
            wrong = [each for each in good if each != row] + [row | {"new_commitment": new}]
            for full in (False, True):
                assert reduced_row(wrong, full=full) == expected | {"is_damaged": True}, (name, new)


@pytest.mark.large
@pytest.mark.parametrize(
    ("column", "new"),
    [("new_commitment", bytes(32)), ("new_tree_commitment", bytes(32)), ("group_key", bytes(32)), ("height", 9),
     ("new_epoch", 7), ("new_group_key", bytes(32)), ("new_threshold", 9), ("new_min_signers", 9),
     ("new_max_signers", 9), ("witness_threshold", 9)],
)  # fmt: skip
def test_full_mode_believes_no_derived_column_even_of_a_branch_that_lost(column, new):
    good = [row for batch in operation_rows(admit(facts().values()), 99) for row in batch.to_pylist()]
    expected = reduced_row(good)
    for row in good:
        wrong = [each for each in good if each != row] + [row | {column: new}]
        assert reduced_row(wrong, full=True) == expected | {"is_damaged": True}


def test_operations_that_admission_would_refuse_are_damage():
    good = [row for batch in operation_rows(admit(facts().values()), 99) for row in batch.to_pylist()]
    lost = [row for row in good if row["new_commitment"] != states()["A0"].commitment]
    stranger = {**good[0], "fact_cbor": refused()["22"].cbor, "new_commitment": b"\x07" * 32}
    for full in (False, True):
        row = reduced_row(lost, full=full)
        assert (row["is_damaged"], row["height"]) == (True, 1)
    row = reduced_row([*good, stranger], full=True)
    assert row["is_damaged"]
    assert [each["reasons"] for each in row["operations"] if each["outcome"] == "invalid"] == [
        ["LEAF_ID_NOT_NEXT"]
    ]


@pytest.mark.parametrize("full", [False, True])
def test_a_snapshot_in_force_is_a_fence_against_a_late_sibling(full):
    siblings = [signed("A0", AddLeaf(device(1, 0x30 + number), 0), 0x60 + number) for number in range(8)]
    late = max(siblings, key=lambda fact: fact.op_id)
    assert late.op_id > facts()["A1"].op_id
    rows = [
        row for batch in operation_rows(admit([*facts().values(), late]), 99) for row in batch.to_pylist()
    ]
    assert reduced_row(rows, full=full)["commitment"] == after(states()["A0"], late).commitment
    for name in ("A1", "P", "Kp"):
        attested = author.attest(snapshot(U, by=()), U.id, states()[name].commitment, K1)
        row = reduced_row([base_row(attested), *rows], full=full)
        assert (row["commitment"], row["is_damaged"]) == (states()["Kp"].commitment, False)
        outcomes = {each["op_id"]: (each["outcome"], each["lost_to"]) for each in row["operations"]}
        assert outcomes[late.op_id] == ("superseded", facts()["A1"].op_id)
    # A base on the branch that lost makes it win; one that the operations do not lead to is damage.
    lost = author.attest(snapshot(U, by=()), U.id, states()["Rx"].commitment, K1)
    row = reduced_row([*rows, base_row(lost)], full=full)
    assert (row["commitment"], row["is_damaged"]) == (states()["Kx"].commitment, False)
    # A stored commitment that only claims to be that of the base does not make one.
    claimed = [
        each | {"new_commitment": b"\x07" * 32}
        if each["new_commitment"] == states()["G"].commitment
        else each
        for each in rows
    ]
    nowhere = author.attest(snapshot(U, by=()), U.id, b"\x07" * 32, K1)
    row = reduced_row([*claimed, base_row(nowhere)], full=full)
    assert (row["height"], row["is_damaged"]) == (3, True)
    row = reduced_row([*rows, base_row(nowhere)], full=full)
    assert (row["commitment"], row["is_damaged"]) == (after(states()["A0"], late).commitment, True)


def base_row(fact):
    """The snapshot in force as the kernel of reduction reads it."""
    place = {"namespace": fact.namespace.text, "bucket": 0, "fact_cbor": fact.cbor}
    return dict.fromkeys(kernels.REDUCTION_COLUMNS) | place | {"is_base": True}


def reduced_row(rows, *, full=False):
    """The row of one authority; its operations by their ids."""
    names = kernels.REDUCTION_COLUMNS
    [batch] = kernels.reduced(
        [pa.RecordBatch.from_pylist([{name: row.get(name) for name in names} for row in rows])], full=full
    )
    [row] = batch.to_pylist()
    return row | {"operations": sorted(row["operations"], key=lambda each: each["op_id"])}
