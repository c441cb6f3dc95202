"""Write local journals and exchange files, or copy from another lake: `strandline sync` under spark-submit.

    spark-submit --py-files strandline-0.1.0-py3-none-any.whl --properties-file conf/spark-defaults.conf \\
        jobs/sync.py --nodes /landing/nodes.json --requests /outbox/ask.jsonl --schema main.strandline --json
    spark-submit --py-files strandline-0.1.0-py3-none-any.whl --properties-file conf/spark-defaults.conf \\
        jobs/sync.py --from other.strandline --schema main.strandline --json

Options and exit codes are those of `strandline sync`; `jobs/sync.py --help` lists them.
"""

import sys

from strandline.cli import main

if __name__ == "__main__":
    sys.exit(main(["sync", *sys.argv[1:]]))
