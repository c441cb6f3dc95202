"""State what namespaces reduce to, and which records can be pruned: `strandline snapshot` under spark-submit.

    spark-submit --py-files strandline-0.1.0-py3-none-any.whl --properties-file conf/spark-defaults.conf \\
        jobs/snapshot.py --schema main.strandline --json

Options and exit codes are those of `strandline snapshot`; `jobs/snapshot.py --help` lists them.
"""

import sys

from strandline.cli import main

if __name__ == "__main__":
    sys.exit(main(["snapshot", *sys.argv[1:]]))
