"""What the logs of a lake's tables say of who committed what."""

import json
from collections.abc import Iterator

from strandline.contracts.load import tables

AUTO_COMPACT = {
    "spark.databricks.delta.autoCompact.enabled": "true",
    "spark.databricks.delta.autoCompact.minNumFiles": "2",
}
"""Settings with which Delta compacts two files of a bucket right after a commit."""


def commits(lake, table: str) -> Iterator[tuple[int, dict]]:
    """The versions of a table behind the first, each with its actions by name."""
    for path in sorted((lake.path / table / "_delta_log").glob("*.json")):
        actions = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        if int(path.stem):
            yield int(path.stem), {name: action for each in actions for name, action in each.items()}


def assert_commits_name_their_run(lake) -> None:
    """Each commit of rows names the run that made it; one that counts sightings or adds a run has an id of its own.

    A union or a replacement changes nothing if it is repeated: an id would only cost its look-up.
    """
    runs = {run_id for (run_id,) in lake.rows("run", "run_id")}
    ids, written, counted = [], set(), set()
    for table in tables():
        for version, actions in commits(lake, table):
            where = (table, version)
            assert actions["commitInfo"]["userMetadata"] in runs, where
            written.add(table)
            if "txn" in actions:
                run_id, named, _ = actions["txn"]["appId"].split("/")
                assert (actions["commitInfo"]["userMetadata"], named) == (run_id, table), where
                ids.append(actions["txn"]["appId"])
                counted.add(table)
    assert len(ids) == len(set(ids)) > 0
    assert counted == {"quarantine", "run"}
    assert written >= {"node_journal_line", "quarantine", "namespace_state", "run"}
