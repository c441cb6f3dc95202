"""Which dialects without records `reduce` looks at: those that had some, and have states."""

import pytest
from deltalake import DeltaTable

from strandline.dialects import every
from strandline.pipelines.lost_records import lost_dialects
from strandline.tables import reduced_versions
from strandline.tables.location import Location
from strandline.tables.metadata import COMMITS_SEARCHED
from strandline.tables.store import TableStore
from support.delta_rs_lake import empty_lake, state, write

STATES = "namespace_state"


@pytest.fixture
def lost(tmp_path, monkeypatch):
    """A function that returns which dialects lost records, and how often the states were asked."""
    asked = []
    monkeypatch.setattr(
        "strandline.pipelines.lost_records.reduced_dialects",
        lambda tables: asked.append(None) or reduced_versions.reduced_dialects(tables),
    )

    def found():
        asked.clear()
        store = TableStore(None, Location.lake(str(tmp_path)), None, run_id="r")
        return lost_dialects(store, every()), len(asked)

    empty_lake(tmp_path)
    return found


@pytest.mark.large
def test_a_dialect_whose_table_init_made_anew_has_lost_records_as_long_as_it_has_states(lost, tmp_path):
    assert lost() == (set(), 0)
    write(tmp_path, STATES, [state("node:a", reduced_version=9)])
    assert lost() == (set(), 0)
    # `init` updates the states before it makes the table.
    DeltaTable(str(tmp_path / STATES)).update({"reduced_version": "0"})
    assert lost() == ({"sdmp"}, 1)
    # Reductions of others follow, and push the update out of the newest commits.
    for number in range(COMMITS_SEARCHED):
        write(tmp_path, STATES, [state(f"log:{number}") | {"dialect": "ipfslog"}])
    assert lost() == ({"sdmp", "ipfslog"}, 1)
    # The stray states were deleted.
    DeltaTable(str(tmp_path / STATES)).delete("dialect = 'sdmp'")
    assert lost() == ({"ipfslog"}, 1)


def test_a_table_without_records_that_had_some_has_lost_them_if_anything_is_left_of_them(lost, tmp_path):
    records = DeltaTable(str(tmp_path / "node_journal_line"))
    write(tmp_path, "node_journal_line", [{"namespace": "node:a", "profile": "0.9"}])
    write(tmp_path, STATES, [state("node:a")])
    records.update_incremental()
    records.restore(0)
    # A state alone, and then a row of a reduced table.
    assert lost() == ({"sdmp"}, 1)
    write(tmp_path, "equivocation", [{"namespace": "node:a", "kind": "SDMP_FORK"}])
    DeltaTable(str(tmp_path / STATES)).delete()
    found, _ = lost()
    assert found == {"sdmp"}
