"""The data of the examples is what the programs beside it write."""

import runpy

from support.packaged import ROOT


def test_the_logs_of_the_stores_are_those_that_their_program_writes():
    program = runpy.run_path(str(ROOT / "examples" / "stores.py"))
    lines = b"".join(program["to_lines"](log.values) for log in program["logs"]())
    assert (ROOT / "examples" / "stores.jsonl").read_bytes() == lines


def test_the_logs_of_the_devices_are_those_that_their_program_writes():
    program = runpy.run_path(str(ROOT / "examples" / "devices.py"))
    assert (ROOT / "examples" / "devices.jsonl").read_bytes() == program["lines"]()
