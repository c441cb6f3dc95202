"""Mutants of the plain modules, judged by the tests that need no JVM: `make mutants`."""
