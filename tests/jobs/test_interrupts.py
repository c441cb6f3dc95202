"""A process that a signal ends while Spark works says one sentence, and leaves whole tables."""

import shutil
import signal

from support.lakes import Lake
from support.packaged import SECONDS

# The signal comes while the driver waits for Spark: a moment after it was asked for the merge.
SIGNALLED = """
import os, signal, sys, threading
from strandline.cli import main
from strandline.pipelines.faults import Faults

def soon():
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()

Faults.parse = staticmethod(lambda _: Faults("ingest.read", fire=soon))
sys.exit(main(sys.argv[1:]))
"""


def test_sigint_in_the_midst_of_a_merge_is_one_sentence_and_the_same_command_ends_as_if_it_had_not_come(
    spark, settings, undisturbed, program, tmp_path
):
    root, lake = undisturbed.root, tmp_path / "lake"
    shutil.copytree(root / "ingest", lake)
    words = ("ingest", str(root / "second"), "--dialect", "sdmp", "--lake", str(lake), "--quiet")
    process = program.start(*words, cwd=tmp_path, script=SIGNALLED)
    out, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 128 + signal.SIGINT, err
    assert (out, err) == (
        "", "The command was interrupted; run it again: nothing is lost or doubled.\n"
    )  # fmt: skip
    again = Lake(spark, settings, lake)
    again.ingest(root / "second")
    again.reduce()
    assert again.tables() == undisturbed.tables
