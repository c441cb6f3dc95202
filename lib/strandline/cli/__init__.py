"""The command line: options in, one report out."""

from strandline.cli.main import main

__all__ = ["main"]
