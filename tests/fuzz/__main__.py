"""`python -m fuzz`: fuzzes every target, or those that are named, and ends with 1 if one does not hold."""

import argparse
import random
import sys
import traceback

from fuzz.engine import Found, keep, tried_for
from fuzz.targets import TARGETS


def main() -> int:
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument(
        "targets", nargs="*", choices=[*TARGETS, []], metavar="TARGET", help=", ".join(TARGETS)
    )
    parser.add_argument("--seconds", type=float, default=30, help="for each target (default: 30)")
    parser.add_argument("--seed", type=int, default=None, help="the same inputs for the same number")
    given = parser.parse_args()
    number = random.SystemRandom().randrange(2**32) if given.seed is None else given.seed
    failed = 0
    for name in given.targets or TARGETS:
        try:
            count = tried_for(name, given.seconds, random.Random(number))
        except Found as found:
            traceback.print_exception(found.__cause__)
            print(f"{name}: FOUND, kept as {keep(found)} (--seed {number})", flush=True)
            failed += 1
        else:
            print(f"{name}: {count} inputs, nothing found (--seed {number})", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
