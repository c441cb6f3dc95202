"""Charges of one budget by writers of one lake, in all orders of their steps: no order passes the limit."""

import pytest

from strandline.dialects.aura.author.charges import charging
from support.charge_model import SPACE, Model, Writer, finished, interleavings
from support.laws import IS_QUICK

ORDERS = 2_500 if IS_QUICK else 10_000


@pytest.mark.large
def test_two_writers_never_pass_the_limit_and_what_they_charged_is_spent():
    orders = refused = raced = 0
    for outcome in interleavings(
        10, [[(4, None), (3, None), (1, None)], [(5, None), (2, None), (1, None)]], ORDERS
    ):
        rows = outcome.model.rows
        assert outcome.model.spent <= 10
        assert outcome.model.spent == sum(cost for cost, _ in outcome.charged)
        assert outcome.conflicts == 0
        assert [charge.nonce for charge, _ in rows] == list(range(len(rows)))
        assert [charge.prev for charge, _ in rows[1:]] == [body for _, body in rows[:-1]]
        assert max(budget.spent for _, budget in outcome.charged) == outcome.model.spent
        orders += 1
        refused += outcome.refused
        raced += outcome.refused > 1
    assert orders == ORDERS
    assert refused
    assert raced


def test_one_request_twice_at_once_charges_once():
    for outcome in interleavings(100, [[(4, b"one"), (1, None)], [(4, b"one"), (2, None)]], ORDERS // 5):
        assert sorted(charge.cost for charge, _ in outcome.model.rows) == [1, 2, 4]
        assert len(outcome.charged) == 4


@pytest.mark.parametrize("step", range(4))
def test_a_call_that_ends_at_any_step_and_is_repeated_charges_once(step):
    model = Model(100)
    killed = charging(Writer(model, 0), SPACE, 7, b"request")
    for _ in range(step):
        next(killed)
    killed.close()
    assert model.spent in (0, 7)
    budget = finished(charging(Writer(model, 0), SPACE, 7, b"request"))
    assert (model.spent, budget.spent, len(model.rows)) == (7, 7, 1)
