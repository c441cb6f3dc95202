"""Create the tables and views of a lake: `strandline init` under spark-submit.

    spark-submit --py-files strandline-0.1.0-py3-none-any.whl --properties-file conf/spark-defaults.conf \\
        jobs/init.py --schema main.strandline --buckets 64

Options and exit codes are those of `strandline init`; `jobs/init.py --help` lists them. Instead of --properties-file
you can give --packages io.delta:delta-spark_4.2_2.13:4.4.0 and two --conf; the error message for a session without
Delta shows both.
"""

import sys

from strandline.cli import main

if __name__ == "__main__":
    sys.exit(main(["init", *sys.argv[1:]]))
