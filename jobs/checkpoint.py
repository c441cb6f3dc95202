"""State which records each namespace has, as signed Merkle trees: `strandline checkpoint` under spark-submit.

    spark-submit --py-files strandline-0.1.0-py3-none-any.whl --properties-file conf/spark-defaults.conf \\
        jobs/checkpoint.py --schema main.strandline --json

Options and exit codes are those of `strandline checkpoint`; `jobs/checkpoint.py --help` lists them.
"""

import sys

from strandline.cli import main

if __name__ == "__main__":
    sys.exit(main(["checkpoint", *sys.argv[1:]]))
