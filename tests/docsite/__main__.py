"""`python -m docsite`, see the package."""

import sys
from pathlib import Path

from docsite import reference, stage


def main(words: list[str]) -> int:
    """Run one of the two commands; 2 for any other."""
    match words:
        case ["reference"]:
            reference.write()
        case ["stage", folder]:
            stage.copy(Path(folder))
        case _:
            print("python -m docsite reference | stage FOLDER", file=sys.stderr)
            return 2
    return 0


sys.exit(main(sys.argv[1:]))
