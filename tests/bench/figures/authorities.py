"""Figures of authorities in one process: 41 to 47."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

from bench.bench import Bench
from bench.facts import chain, lines
from bench.measure import Run, alternate, seconds_case, timed
from strandline.core.ed25519 import verify_ed25519
from strandline.dialects.aura.codec import op_message, read_documents
from strandline.dialects.aura.reduce import Journal, reduce_columns
from strandline.dialects.aura.types import Fact, LeafNode
from strandline.dialects.aura.verify import EMPTY, AcceptedOp, State, admit, judge, state_after
from strandline.dialects.aura.verify.tree import full_tree, updated_tree

TREE_LEAVES: Final = 2_048
OPERATIONS: Final = 99
"""Operations of an authority of figures 42, 43 and 45, beside its genesis."""

NEW_OPERATIONS: Final = 10
TREE_ROUNDS: Final = 20
"""So many trees are computed in one run: one takes less than the clock tells well."""


def measure(bench: Bench) -> None:
    """Measure trees, admission, reduction and union, each beside what it is compared with."""
    if bench.wants(41):
        _tree(bench)
    if bench.wants(42, 43, 45):
        _small_authorities(bench)
    if bench.wants(44):
        _growth(bench)
    if bench.wants(46):
        _tip(bench)
    if bench.wants(47):
        _union(bench)


def _compared(
    bench: Bench,
    number: int,
    name: str,
    work: tuple[str, Callable[[], object]],
    against: tuple[str, Callable[[], object]],
) -> None:
    contenders = {what: _contender(done) for what, done in (work, against)}
    runs = alternate(contenders, bench.repetitions)
    case = seconds_case(name, (work[0], runs[work[0]]), (against[0], runs[against[0]]))
    bench.keep(number, (case,), bench.repetitions, ())


def _contender(work: Callable[[], object]) -> Callable[[], Run]:
    return lambda: timed(work)


def _tree(bench: Bench) -> None:
    leaves = [LeafNode(at, bytes(16), "Device", at.to_bytes(32, "big"), b"") for at in range(TREE_LEAVES)]
    tree = full_tree(leaves, 0, 1)
    place = TREE_LEAVES // 2
    leaves[place] = LeafNode(place, bytes(16), "Device", b"\xff" * 32, b"")

    def updated() -> None:
        for _ in range(TREE_ROUNDS):
            updated_tree(tree, leaves, 0, 1, range(place, place + 1))

    def full() -> None:
        for _ in range(TREE_ROUNDS):
            full_tree(leaves, 0, 1)

    name = f"{TREE_LEAVES:,} leaves, {TREE_ROUNDS} times"
    _compared(bench, 41, name, ("updated tree", updated), ("full tree", full))


def _accepted(facts: list[Fact]) -> list[AcceptedOp]:
    found = list(admit(facts).operations.values())
    if len(found) != len(facts):
        raise RuntimeError("an operation is not accepted")
    return found


def _small_authorities(bench: Bench) -> None:
    count = max(1, bench.data.sizes.journals // 50)
    facts = [fact for number in range(count) for fact in chain(number, OPERATIONS)]
    accepted = _accepted(facts)
    signed = [
        (op.group_key, op_message(op.fact.body_id, op.group_key), op.attested.agg_sig) for op in accepted
    ]
    text = "".join(lines(facts)).encode()
    by_authority = [accepted[at : at + OPERATIONS + 1] for at in range(0, len(accepted), OPERATIONS + 1)]

    def bare() -> None:
        if not all(verify_ed25519(*each) for each in signed):
            raise RuntimeError("a signature is not valid")

    def read() -> None:
        if judge(list(read_documents(text, "lines"))).counts.new != len(facts):
            raise RuntimeError("an operation is not accepted")

    def reduced() -> None:
        for ops in by_authority:
            if reduce_columns(ops[0].fact.namespace, ops) is None:
                raise RuntimeError("a stored commitment is wrong")

    name = f"{len(facts):,} operations of {count:,} authorities"
    admission = ("admission", lambda: _accepted(facts))
    for number, work, against in (
        (42, admission, ("bare checks", bare)),
        (43, ("lines to verdicts", read), ("bare checks", bare)),
        (45, ("reduction by columns", reduced), admission),
    ):
        if bench.wants(number):
            _compared(bench, number, name, work, against)


def _growth(bench: Bench) -> None:
    count = 5 * bench.data.sizes.journals
    both = list(chain(0, 2 * count))
    half = both[: count + 1]
    for facts in (both, half):
        Random(1).shuffle(facts)
    _compared(
        bench, 44, f"{2 * count:,} / {count:,} operations of one chain",
        ("admission of twice as many", lambda: _accepted(both)), ("admission", lambda: _accepted(half)),
    )  # fmt: skip


def _tip(bench: Bench) -> None:
    count = 10 * bench.data.sizes.journals
    every = _accepted(list(chain(0, count)))
    namespace, state = every[0].fact.namespace, EMPTY
    for op in every[:-NEW_OPERATIONS]:
        state = state_after(state, op.fact)
    _compared(
        bench, 46, f"{NEW_OPERATIONS} operations on a tip of {count:,}",
        ("from the stored state", lambda: _reduced(every[-NEW_OPERATIONS:], state)),
        ("from nothing", lambda: reduce_columns(namespace, every)),
    )  # fmt: skip


def _reduced(ops: list[AcceptedOp], state: State) -> None:
    found = reduce_columns(ops[0].fact.namespace, ops, state)
    if found is None or found.state.commitment != ops[-1].new_commitment:
        raise RuntimeError("the new operations do not lead to their state")


def _union(bench: Bench) -> None:
    count = 10 * bench.data.sizes.journals
    facts = list(chain(0, count + count // 2 - 1))
    one = Journal(facts[0].namespace, facts[:count])
    other = Journal(facts[0].namespace, facts[count // 2 :])
    ids = [fact.fact_id for fact in one.facts]

    def joined() -> None:
        if len(one.join(other)) != len(facts):
            raise RuntimeError("the union has another number of facts")

    def pairwise() -> None:
        if sum(fact.fact_id not in ids for fact in other.facts) != len(facts) - len(ids):
            raise RuntimeError("other facts are missing")

    name = f"two journals of {count:,} facts"
    _compared(bench, 47, name, ("union", joined), ("ids pairwise", pairwise))
