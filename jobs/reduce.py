"""Update the reduced tables from the record tables: `strandline reduce` under spark-submit.

    spark-submit --py-files strandline-0.1.0-py3-none-any.whl --properties-file conf/spark-defaults.conf \\
        jobs/reduce.py --schema main.strandline --json

Options and exit codes are those of `strandline reduce`; `jobs/reduce.py --help` lists them.
"""

import sys

from strandline.cli import main

if __name__ == "__main__":
    sys.exit(main(["reduce", *sys.argv[1:]]))
