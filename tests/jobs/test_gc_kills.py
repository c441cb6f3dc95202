"""Collections killed by SIGKILL at each of their steps, and run again: the tables of one that was not killed."""

import signal

import pytest

from strandline.dialects.ipfslog.reduce import LogConfiguration
from support.ipfslog_cases import chain
from support.log_lakes import enter, enter_identities, file_of, lake_tables

POINTS = (
    "snapshot.members", "snapshot.row", "gc.proved", "gc.pruned", "gc.delete", "gc.deleted",
    "gc.vacuumed.ipfs_log_entry",
)  # fmt: skip
COLUMNS = ("namespace", "record_id", "form", "kind", "skeleton", "generation")


@pytest.mark.slow
def test_a_collection_killed_at_each_step_and_run_again_ends_as_one_that_was_not(new_lake, program, tmp_path):
    lake, calm = new_lake("killed", dialect="ipfslog"), new_lake("calm", dialect="ipfslog")
    logs = [chain(f"killed-at-{point}") for point in POINTS]
    told = {made[0].log_id: LogConfiguration("keyvalue", ("*",), "config") for made in logs}
    for each in (lake, calm):
        enter_identities(each)
        enter(each, [one for made in logs for one in made])
        each.reduce(files=file_of(told))
    before = lake_tables(lake)
    for point in POINTS:
        words = (
            "gc",
            "--namespace",
            f"log:killed-at-{point}",
            "--skip-window",
            "0",
            "--lake",
            str(lake.path),
        )
        more = ("--vacuum", "0", "--force-vacuum") if point.startswith("gc.vacuumed") else ()
        done = program.run(*words, *more, cwd=tmp_path, STRANDLINE_FAULT=point)
        assert done.returncode == -signal.SIGKILL, (point, done.stderr[-3000:])
        # Readers see the state, whether it is told by the rows or by what is listed of them.
        assert lake_tables(lake) == before
    lake.gc()
    calm.gc()
    assert lake.reduce(full=True).members["differences"] == {}
    assert lake_tables(lake) == lake_tables(calm) == before
    for table, columns in (("ipfs_log_entry", ("namespace", "record_id")), ("pruned_record", COLUMNS)):
        assert lake.rows(table, *columns) == calm.rows(table, *columns)
    assert {outcome for (outcome,) in lake.rows("gc_run", "outcome")} == {"DONE", "VOID"}
