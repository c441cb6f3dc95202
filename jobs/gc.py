"""Remove records that decide nothing any more: `strandline gc` under spark-submit.

    spark-submit --py-files strandline-0.1.0-py3-none-any.whl --properties-file conf/spark-defaults.conf \\
        jobs/gc.py --schema main.strandline --json

Options and exit codes are those of `strandline gc`; `jobs/gc.py --help` lists them.
"""

import sys

from strandline.cli import main

if __name__ == "__main__":
    sys.exit(main(["gc", *sys.argv[1:]]))
