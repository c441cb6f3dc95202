"""The Python of the pages about contexts and pruning runs without Spark, over histories of the vectors."""

import re

from strandline.dialects.aura.reduce import reduce_authority
from strandline.dialects.aura.verify import admit
from strandline.dialects.ipfslog.reduce import LogConfiguration
from support.aura_cases import K2, U, facts, other_authority, states
from support.context_cases import V_ID, context_vectors, named_facts
from support.ipfslog_cases import dag
from support.packaged import ROOT


def python_of(page: str, containing: str) -> str:
    """The block of Python of a page that contains this."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    [found] = [
        block
        for block in re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
        if containing in block
    ]
    return found


def run(page: str, containing: str, **given: object) -> dict[str, object]:
    """The names that a block leaves, after these."""
    exec(compile(python_of(page, containing), page, "exec"), given)
    return given


def test_a_context_is_reduced_and_charged_as_its_page_says() -> None:
    every = [fact for name, fact in named_facts().items() if name != "b3'"]
    other = other_authority()
    left = run(
        "contexts.md", "reduce_context",
        authorities={U: list(facts().values()), other.namespace: [other]}, context=every[0].namespace, facts=every,
        src=U.id, dst=V_ID, epoch=1, order=bytes(32), tip=states()["Kp"].commitment, signer=K2,
    )  # fmt: skip
    hashes = {each["facts"]: each["state_hash"] for each in context_vectors()["states"]}
    assert left["state"].state_hash.hex() == hashes["all"]  # type: ignore[attr-defined]
    charge = left["charge"]
    assert (charge.content["cost"], charge.content["nonce"]) == (7, 2)  # type: ignore[attr-defined]
    assert [each.authority for each in charge.attest] == [U.id]  # type: ignore[attr-defined]


def test_a_log_is_planned_and_proved_as_the_page_of_pruning_says() -> None:
    entries = list(dag().values())
    left = run("snapshots.md", "plan_log", entries=entries, configuration=LogConfiguration("keyvalue"))
    assert not left["plan"].prune  # type: ignore[attr-defined]
    assert sum(left["plan"].holds.values()) == len(entries)  # type: ignore[attr-defined]


def test_an_authority_is_planned_and_proved_as_the_page_of_pruning_says() -> None:
    every = facts().values()
    operations, base = admit(every).operations.values(), reduce_authority(U, every).state
    given = {"namespace": U, "operations": operations, "others": (), "base": base}
    left = run("snapshots.md", "plan_authority", **given)
    # The window of the page is longer than this history.
    assert set(left["plan"].holds) == {"KIND_KEPT", "ABOVE_BASE", "WINDOW"}  # type: ignore[attr-defined]
    assert sum(left["plan"].holds.values()) == len(every)  # type: ignore[attr-defined]
