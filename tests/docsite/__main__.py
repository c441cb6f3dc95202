"""`python -m docsite`, see the package."""

import sys
from pathlib import Path

from docsite import reference, stage


def main(words: list[str]) -> int:
    """Run one of the commands; 2 for any other."""
    match words:
        case ["reference"]:
            reference.write()
        case ["stage", folder]:
            stage.copy(Path(folder))
        case ["picture", lake]:
            from docsite import picture

            picture.draw(Path(lake))
        case _:
            print("python -m docsite reference | stage FOLDER | picture LAKE", file=sys.stderr)
            return 2
    return 0


sys.exit(main(sys.argv[1:]))
