"""Operations of authorities go only if that changes no answer, now or ever: rules, wrong rules, histories."""

from types import SimpleNamespace

import pytest

from strandline.core.encoding.strict_cbor import encode_cbor
from strandline.dialects.aura import author
from strandline.dialects.aura.reduce import (
    chain,
    decode_op_skeleton,
    decode_state_carry,
    encode_op_skeleton,
    encode_state_carry,
    plan_authority,
    pruning,
    reduce_authority,
    skeleton_of,
    state_cbor,
)
from strandline.dialects.aura.verify import EMPTY, KnownState, admit
from support.aura_cases import U, after, b32, facts
from support.authority_lakes import AuthorityLake, deliveries
from support.laws import IS_QUICK

SEEDS = range(25 if IS_QUICK else 100)


def history(seed, window=0, check=True):
    """Deliver a history in parts, with a snapshot and a collection after each; the first thing that differs."""
    draw, given = deliveries(seed)
    lake, gone = AuthorityLake(given[0].namespace), 0
    for at in range(0, len(given), 4):
        lake.enter([*given[at : at + 4], *draw.sample(given[:at], min(at, 3))])
        lake.advance(draw)
        if check and (wrong := lake.differs()):
            return lake, gone, wrong
        proof, count = lake.collect(window)
        gone += count
        if not proof.equal:
            return lake, gone, "proof"
        if check and (wrong := lake.differs()):
            return lake, gone, wrong
        again, count = lake.collect(window)
        assert (again.equal, count) == (True, 0)
    return lake, gone, None


@pytest.mark.large
def test_what_is_held_reduces_to_the_state_of_all_facts_after_any_number_of_collections():
    total = below = 0
    for seed in SEEDS:
        lake, gone, wrong = history(seed, window=seed % 2)
        assert wrong is None, seed
        total, below = total + gone, below + lake.below
    assert total > 2 * len(SEEDS)
    assert below > 0


@pytest.mark.large
def test_a_collection_is_antitone_in_the_window():
    counts = [sum(history(seed, window=window)[1] for seed in range(8)) for window in (0, 1, 100)]
    assert counts[0] > counts[1] > counts[2] == 0


class Wrong:
    """Rules that look right, each with what makes a difference."""

    def __init__(self, patch):
        self.patch = patch

    def only_the_base_stays(self):
        self.no_window()
        self.patch.setattr(pruning, "_descendants", lambda ops, base: frozenset([base.commitment]))

    def what_descends_from_the_genesis_goes(self):
        self.no_window()
        self.patch.setattr(pruning, "_descendants", lambda ops, base: frozenset())

    def no_state_is_carried(self):
        self.patch.setattr(pruning, "state_cbor", lambda namespace, state: state_cbor(namespace, EMPTY))

    def no_window(self):
        """What is no ancestor of a state above the base may go at any height: the window is for late siblings alone."""
        self.patch.setattr(pruning, "compute_checkpoint_pruning_boundary", lambda height, window: 2**64)

    def skeletons_do_not_count(self):
        walk = chain._Walk.__init__
        self.patch.setattr(chain._Walk, "__init__", lambda it, ops, bones: walk(it, ops, ()))

    def copies_count(self):
        def twice(it, ops, bones):
            walk(it, (), bones)
            bones, ops = it.skeletons, list(ops)
            walk(it, ops, [bone for bone in bones.values() if bone.op_id not in {op.op_id for op in ops}])

        walk = chain._Walk.__init__
        self.patch.setattr(chain._Walk, "__init__", twice)


CAUGHT = [name for name in vars(Wrong) if not name.startswith("_") and name != "no_window"]


@pytest.mark.parametrize("name", CAUGHT)
def test_a_wrong_rule_is_found(name, monkeypatch):
    getattr(Wrong(monkeypatch), name)()
    assert any(history(seed)[2] for seed in range(100))


def test_the_window_is_kept(monkeypatch):
    kept = history(5, window=1)
    Wrong(monkeypatch).no_window()
    more = history(5, window=1)
    assert more[1] > kept[1]
    assert more[2] is kept[2] is None


OPS = dict(facts())


def planned(base=None, others=(), window=0):
    operations = admit(OPS.values()).operations
    names = {fact.fact_id: name for name, fact in OPS.items()}
    plan = plan_authority(U, operations.values(), others, base, None, window)
    return plan, {names.get(each.record_id, "-"): each.hold for each in plan.members}


def test_the_holds_of_the_chain_of_the_page():
    base = reduce_authority(U, OPS.values()).state
    assert set(planned()[1].values()) == {"KIND_KEPT", "NO_BASE"}
    plan, holds = planned(base)
    path = {op.new_commitment for op in reduce_authority(U, OPS.values()).chain.path}
    assert holds["G"] == "KIND_KEPT"
    assert [name for name, hold in holds.items() if hold == "ABOVE_BASE"] == [
        name for name, op in named().items() if op.new_commitment == base.commitment
    ]
    assert {name for name, hold in holds.items() if hold is None} == {
        name for name, op in named().items() if 1 < op.height < base.height
    }
    assert {name for name, hold in holds.items() if hold == "WINDOW"} == {
        name for name, op in named().items() if op.height >= base.height and op.new_commitment not in path
    }
    assert decode_state_carry(plan.carry) == base
    assert {each.kind for each in plan.prune} == {
        OPS[name].variant for name, hold in holds.items() if hold is None
    }


def named():
    operations = admit(OPS.values()).operations
    return {name: operations[fact.fact_id] for name, fact in OPS.items()}


def test_without_anything_to_prune_there_is_nothing_to_carry():
    assert decode_state_carry(planned(window=1000)[0].carry) is None
    assert planned()[0].carry == encode_state_carry(None) == b"\xa1\x61v\x01"


def test_states_of_skeletons_are_known_and_what_follows_them_is_below():
    base = reduce_authority(U, OPS.values()).state
    lake = AuthorityLake(U, base=base)
    lake.enter(OPS.values())
    lake.collect(0)
    assert lake.differs() is None
    stored = [op.fact for op in lake.held.values()]
    found = admit((), stored, pruned={U: lake.pruned})
    for op in named().values():
        assert found.states[U.id, op.new_commitment] == KnownState(op.new_epoch, op.new_group_key)
    gone = {bone.new_commitment for bone in lake.pruned.skeletons}
    late = {name for name, op in named().items() if op.parent_commitment in gone - {base.commitment}}
    verdicts = admit([OPS[name] for name in late], [OPS["G"]], pruned={U: lake.pruned}).verdicts
    assert late
    assert {verdicts[OPS[name].fact_id].reasons for name in late} == {("BELOW_SNAPSHOT",)}


def test_skeletons_and_carries_are_read_back_and_nothing_else_is_one():
    bone = skeleton_of(named()["A0"])
    raw = encode_op_skeleton(bone)
    assert decode_op_skeleton(raw) == bone
    whole = [
        bone.op_id, bone.parent_commitment, bone.parent_epoch, bone.new_commitment, bone.new_epoch, bone.height,
        bone.new_group_key, bone.signer_count,
    ]  # fmt: skip
    assert encode_cbor(whole) == raw
    for at, value in [
        (0, b"\x00"),
        (2, -1),
        (2, True),
        (3, None),
        (5, 2**64),
        (6, b""),
        (7, 2**16),
        (7, "1"),
    ]:
        with pytest.raises(ValueError):
            decode_op_skeleton(encode_cbor([*whole[:at], value, *whole[at + 1 :]]))
    for broken in (raw[:-1], raw + b"\x00", b"", b"\x80"):
        with pytest.raises(ValueError):
            decode_op_skeleton(broken)
    state = after(EMPTY, OPS["G"])
    carry = encode_state_carry(state_cbor(U, state))
    assert decode_state_carry(carry) == state
    other = carry.replace(state.commitment, b32(1))
    for broken in (carry[:-1], b"\xa0", other, encode_cbor({"v": 2}), encode_cbor({"v": 1, "state": None}),
                   encode_cbor({"v": 1, "more": b""}), encode_cbor([])):  # fmt: skip
        with pytest.raises(ValueError):
            decode_state_carry(broken)


@pytest.mark.parametrize("naming", ["fact_id", "body_id"])
def test_what_a_receipt_names_by_either_id_stays_and_everything_else_goes_as_before(naming):
    base = reduce_authority(U, OPS.values()).state
    _, before = planned(base)
    name = next(name for name, hold in before.items() if hold is None)
    when = {"OrderClock": b32(7)}
    receipt = author.receipt(
        U, envelope_id=getattr(OPS[name], naming), order=b32(7), authority=U.id, commitment=base.commitment,
        received=when, timestamp=when, signer=SimpleNamespace(public=bytes(32), sign=lambda _: bytes(64)),
    )  # fmt: skip
    plan, holds = planned(base, [receipt])
    assert holds == {**before, name: "RECEIPT_REFERENCE", "-": "KIND_KEPT"}
    assert OPS[name].fact_id not in {each.record_id for each in plan.prune}
