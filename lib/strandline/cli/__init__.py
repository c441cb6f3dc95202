"""The command line: options in, one report out."""

import sys

from strandline.cli.main import main

__all__ = ["main", "run"]


def run() -> None:
    """Run the command of this process: the entry point of the wheel.

    A runtime that calls entry points itself, like that of Databricks, ignores what they return, and takes any
    SystemExit for a failure.
    Raises: SystemExit with an exit code that is not 0.
    """
    code = main()
    if code:
        sys.exit(code)
