"""Write records of namespaces to a file, with a manifest: `strandline export` under spark-submit.

    spark-submit --py-files strandline-0.1.0-py3-none-any.whl --properties-file conf/spark-defaults.conf \\
        jobs/export.py demo-shop --out /outbox/shop.car --schema main.strandline --json

Options and exit codes are those of `strandline export`; `jobs/export.py --help` lists them. The driver writes the file.
"""

import sys

from strandline.cli import main

if __name__ == "__main__":
    sys.exit(main(["export", *sys.argv[1:]]))
