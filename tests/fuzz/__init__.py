"""Fuzzing: every parser and kernel on mutated inputs of the tests.

`make fuzz` runs each target for some seconds; what it finds is written to tests/vectors/fuzz, whose files the quick
tests read again. A target is a name, the inputs to begin with, and a check that raises nothing for any bytes.
"""
