"""Check every invariant of a lake: `strandline check` under spark-submit.

    spark-submit --py-files strandline-0.1.0-py3-none-any.whl --properties-file conf/spark-defaults.conf \\
        jobs/check.py --schema main.strandline --json

Options and exit codes are those of `strandline check`; `jobs/check.py --help` lists them.
"""

import sys

from strandline.cli import main

if __name__ == "__main__":
    sys.exit(main(["check", *sys.argv[1:]]))
