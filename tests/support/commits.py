"""What the logs of a lake's tables say of who committed what."""

import json
from collections.abc import Iterator

from strandline.contracts.load import tables


def commits(lake, table: str) -> Iterator[tuple[int, dict]]:
    """The versions of a table behind the first, each with its actions by name."""
    for path in sorted((lake.path / table / "_delta_log").glob("*.json")):
        actions = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        if int(path.stem):
            yield int(path.stem), {name: action for each in actions for name, action in each.items()}


def assert_commits_name_their_run(lake) -> None:
    """Each commit of rows carries an id of its own, which Delta writes once, and the run that made it."""
    runs = {run_id for (run_id,) in lake.rows("run", "run_id")}
    ids, written = [], set()
    for table in tables():
        for version, actions in commits(lake, table):
            where = (table, version)
            assert actions.keys() >= {"txn", "commitInfo"}, where
            run_id, named, _ = actions["txn"]["appId"].split("/")
            assert (actions["commitInfo"]["userMetadata"], named) == (run_id, table), where
            assert run_id in runs, where
            ids.append(actions["txn"]["appId"])
            written.add(table)
    assert len(ids) == len(set(ids)) > 0
    assert written >= {"node_journal_line", "quarantine", "namespace_state", "run"}
