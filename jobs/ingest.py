"""Verify every record of the given files and insert the genuine ones: `strandline ingest` under spark-submit.

    spark-submit --py-files strandline-0.1.0-py3-none-any.whl --properties-file conf/spark-defaults.conf \\
        jobs/ingest.py /landing/journals --dialect sdmp --schema main.strandline --json

Options and exit codes are those of `strandline ingest`; `jobs/ingest.py --help` lists them. Rejected records are a
result, not a failure: add --fail-on-reject if they should fail the task.
"""

import sys

from strandline.cli import main

if __name__ == "__main__":
    sys.exit(main(["ingest", *sys.argv[1:]]))
