"""Compact small files and remove files that only old versions need: `strandline maintain` under spark-submit.

    spark-submit --py-files strandline-0.1.0-py3-none-any.whl --properties-file conf/spark-defaults.conf \\
        jobs/maintain.py --schema main.strandline --json

Options and exit codes are those of `strandline maintain`; `jobs/maintain.py --help` lists them.
"""

import sys

from strandline.cli import main

if __name__ == "__main__":
    sys.exit(main(["maintain", *sys.argv[1:]]))
