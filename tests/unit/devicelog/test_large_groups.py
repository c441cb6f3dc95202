"""Device logs: the memory of one process that reduces a large group whole."""

import json
import os
import subprocess
import sys

import pytest

from strandline.dialects.devicelog.kernels.reduced_rows import MAX_BOUNDS

CODE = """
import json, resource, sys
from strandline.dialects.devicelog.kernels.reduction import reduced
from support.device_headers import header_batches

rows = widest = 0
for batch in reduced(header_batches(*map(int, sys.argv[1:])), policy="keep-both"):
    rows += batch.num_rows
    for tip in filter(None, batch.column("tip").to_pylist()):
        widest = max(widest, len(tip["past"] or ()))
kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"rows": rows, "widest": widest, "mib": kib / 1024}))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("logs", "messages", "seen_every", "mib"),
    [(10, 1_000_000, 7, 2048), (1000, 100_000, 1, 1024)],
    ids=["ten logs, 1,000,000 entries", "1,000 logs that see each other, 100,000 entries"],
)
def test_a_large_group_is_reduced_in_bounded_memory_and_no_past_has_too_many_values(
    logs, messages, seen_every, mib
):
    given = map(str, (logs, messages, seen_every))
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", CODE, *given], capture_output=True, check=True, env=env)
    found = json.loads(done.stdout)
    # State, view and tips.
    assert found["rows"] == 1 + messages + logs + logs - 1
    assert logs <= found["widest"] <= MAX_BOUNDS
    assert found["mib"] < mib
