"""`make demo-sync`: three operators who exchange files end with all pairs, and name the fourth, who forked."""

import importlib.util

import pytest

from support.packaged import ROOT


@pytest.mark.slow
def test_three_operators_exchange_files_until_nothing_moves_and_each_names_the_fourth(
    spark, tmp_path, capsys
):
    spec = importlib.util.spec_from_file_location("exchange", ROOT / "examples" / "exchange.py")
    assert spec is not None
    assert spec.loader is not None
    exchange = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(exchange)
    exchange.run(tmp_path / "demo-sync")
    printed = capsys.readouterr().out.splitlines()
    *moved, last = [line for line in printed if line.startswith("round")]
    assert last.endswith(": 0 lines moved")
    assert moved
    for operator in exchange.OPERATORS:
        assert f"{operator}: 6 pairs on 3 journals, lacking on 0" in printed
        assert f"{operator}: {exchange.node_of(exchange.FOURTH)} has two histories (south)" in printed
