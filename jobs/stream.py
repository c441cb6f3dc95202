"""Follow a landing folder: `strandline stream` under spark-submit.

    spark-submit --py-files strandline-0.1.0-py3-none-any.whl --properties-file conf/spark-defaults.conf \\
        jobs/stream.py /landing/journals --dialect sdmp --every 30s --schema main.strandline --checkpoint /landing/_seen

Options and exit codes are those of `strandline stream`; `jobs/stream.py --help` lists them. After a kill, start it
again: it continues where it stopped.
"""

import sys

from strandline.cli import main

if __name__ == "__main__":
    sys.exit(main(["stream", *sys.argv[1:]]))
