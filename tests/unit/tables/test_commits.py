"""Commits that lose against other writers: tried again with growing pauses, told after the last try."""

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
from pyspark.errors import AnalysisException, PySparkException

from strandline.config import defaults
from strandline.core.errors import FaultError
from strandline.tables.commits import (
    CONFLICTS,
    TXN_APP,
    TXN_VERSION,
    USER_METADATA,
    Retry,
    session_settings,
    transaction,
    without_transaction,
)
from strandline.tables.spark_errors import spark_errors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

APPENDED = "[DELTA_CONCURRENT_APPEND]"
POLICY = defaults().merge.model_copy(
    update={"attempts": 5, "base_delay_seconds": 1.0, "max_delay_seconds": 3.0}
)


class Writer:
    """A statement that loses so many times before it commits; `waited` are the pauses before each next try."""

    def __init__(self, lost: int, conflict: Callable[[str], Exception] = PySparkException) -> None:
        self.tries = 0
        self.waited: list[float] = []
        self._lost = lost
        self._conflict = conflict

    def commit(self, jitter: float = 1.0) -> str:
        retry = Retry(POLICY, sleep=self.waited.append, jitter=lambda: jitter)
        return retry.run(self._attempt, table="node_journal_line", buckets=(3, 7))

    def _attempt(self) -> str:
        self.tries += 1
        if self.tries <= self._lost:
            raise self._conflict(f"{APPENDED} commit {self.tries} of another.\n\nIts whole history ..")
        return "written"


class Py4JError(Exception):
    """The root of the errors of py4j, where it is loaded."""


class OfConnect(PySparkException):
    """An error of Spark Connect: it states its condition, with a subcondition."""

    def __init__(self, condition: str) -> None:
        super().__init__("the server says nothing that begins with a condition")
        self._condition = condition

    def getCondition(self) -> str:  # noqa: N802
        return f"{self._condition}.WITH_PARTITION_HINT"


def of_py4j(condition: str) -> Exception:
    """As py4j words an error that Spark has no class for."""
    return Py4JError(
        f"An error occurred while calling o1.sql.\n: io.delta.exceptions.SomeException: [{condition}.WITH_HINT] Lost."
        "\n\tat org.apache.spark.Of([OTHER_CONDITION])\n"
    )


def test_these_conditions_are_conflicts_and_no_others() -> None:
    assert {
        "DELTA_CONCURRENT_APPEND",
        "DELTA_CONCURRENT_DELETE_DELETE",
        "DELTA_CONCURRENT_DELETE_READ",
        "DELTA_CONCURRENT_TRANSACTION",
        "DELTA_CONCURRENT_WRITE",
        "DELTA_METADATA_CHANGED",
        "DELTA_PROTOCOL_CHANGED",
    } == CONFLICTS


@pytest.mark.parametrize("error", [OfConnect, of_py4j, lambda name: PySparkException(f"[{name}] Lost.")])
@pytest.mark.parametrize("condition", sorted(CONFLICTS))
def test_a_statement_that_loses_is_tried_again_until_it_is_written(
    condition: str, error: Callable[[str], Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "py4j.protocol", SimpleNamespace(Py4JError=Py4JError))
    for lost in range(POLICY.attempts):
        writer = Writer(lost, lambda _: error(condition))
        assert writer.commit() == "written"
        assert writer.tries == lost + 1


def test_after_the_last_try_the_loss_is_a_fault_that_names_the_table_the_buckets_and_the_other_commit() -> (
    None
):
    writer = Writer(POLICY.attempts)
    with pytest.raises(FaultError) as lost:
        writer.commit()
    assert (lost.value.code, lost.value.exit_code, writer.tries) == ("WRITE_CONFLICT", 3, POLICY.attempts)
    assert "5 times on the table node_journal_line, buckets 3, 7" in lost.value.message
    assert lost.value.message.endswith(f"the last: {APPENDED} commit 5 of another.")
    with pytest.raises(FaultError, match=r"buckets 0, 1, 2, .* 19 … and 65,516 more; the last") as lost:
        Retry(POLICY, sleep=writer.waited.append).run(
            Writer(POLICY.attempts)._attempt, table="node_journal_line", buckets=tuple(range(65_536))
        )
    assert len(lost.value.message) < 1_000
    del writer.waited[-POLICY.attempts + 1 :]
    # No pause before a try that does not come.
    assert len(writer.waited) == POLICY.attempts - 1


def test_pauses_double_up_to_the_longest_and_are_drawn_from_nothing_to_that() -> None:
    writer = Writer(4)
    writer.commit()
    assert writer.waited == [1.0, 2.0, 3.0, 3.0]
    drawn = Writer(4)
    drawn.commit(jitter=0.25)
    assert drawn.waited == [0.25, 0.5, 0.75, 0.75]


def test_what_is_no_conflict_is_not_tried_again() -> None:
    others = (
        ZeroDivisionError,
        lambda _: AnalysisException("[DELTA_CONCURRENT_X] no [DELTA_CONCURRENT_APPEND]"),
    )
    for other in others:
        writer = Writer(1, other)
        with pytest.raises((ZeroDivisionError, AnalysisException)):
            writer.commit()
        assert (writer.tries, writer.waited) == (1, [])


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ("theirs", "Strandline did not create it and writes no value"),
        ("author_fp", "by its contract it may be"),
        ("namespace", None),
    ],
)
def test_a_column_that_somebody_made_not_null_is_named(column: str, said: str | None) -> None:
    text = f"[DELTA_NOT_NULL_CONSTRAINT_VIOLATED] NOT NULL constraint violated for column: {column}.\n"
    with pytest.raises((FaultError, PySparkException)) as refused:
        Writer(1, lambda _: PySparkException(text)).commit()
    assert isinstance(refused.value, FaultError) == (said is not None)
    if isinstance(refused.value, FaultError):
        assert refused.value.code == "CONSTRAINT_BROKEN"
        assert (
            f"table node_journal_line has a column {column} that must not be null, but {said}"
            in refused.value.message
        )
        assert f"ALTER COLUMN {column} DROP NOT NULL" in refused.value.next


def test_without_py4j_only_the_errors_of_pyspark_are_sparks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "py4j.protocol", raising=False)
    assert spark_errors() == (PySparkException,)


def test_a_commit_carries_its_own_id_and_the_run() -> None:
    assert transaction("run/node_journal_line/3", 0, "run") == {
        TXN_APP: "run/node_journal_line/3", TXN_VERSION: "0", USER_METADATA: "run",
    }  # fmt: skip


def test_a_setting_can_be_taken_away_for_a_statement_and_is_there_again_afterwards() -> None:
    conf = {TXN_APP: "theirs"}

    session = SimpleNamespace(
        conf=SimpleNamespace(get=conf.get, set=conf.__setitem__, unset=lambda name: conf.pop(name, None))
    )
    with session_settings(cast("SparkSession", session), without_transaction("run")):
        assert conf == {USER_METADATA: "run"}
    assert conf == {TXN_APP: "theirs"}
