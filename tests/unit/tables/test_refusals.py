"""Tables of a lake with an older contract than that of this version."""

import pytest

from strandline.contracts.ddl import BUCKETS_PROPERTY
from strandline.contracts.load import contract
from strandline.core.errors import UsageError
from strandline.tables.location import Location
from strandline.tables.refusals import buckets_of, contract_older, lake_not_found, older_tables

LINES = "node_journal_line"


def with_version(version: str) -> dict[str, dict[str, str]]:
    return {LINES: {"strandline.contract": version}}


def test_numbers_of_versions_are_compared_as_numbers():
    ours = contract(LINES).version
    major, minor, patch = map(int, ours.split("."))
    assert older_tables(with_version(ours)) == ()
    assert older_tables(with_version(f"{major}.{minor + 9}.{patch}")) == ()
    assert older_tables(with_version(f"{major}.{minor - 1}.10")) == (LINES,)


def test_a_lake_of_an_older_contract_is_named_with_the_command_that_migrates_it(tmp_path):
    error = contract_older(Location.lake(str(tmp_path)), LINES)
    assert (error.code, LINES in error.message) == ("CONTRACT_OLDER", True)
    assert f"`strandline init --lake {tmp_path}`" in error.next


def test_the_command_that_helps_has_a_path_with_a_space_in_quotes(tmp_path):
    error = lake_not_found(Location.lake(str(tmp_path / "my lake")))
    assert f"`strandline init --lake '{tmp_path / 'my lake'}'`" in error.next


def test_a_lake_may_have_as_many_buckets_as_init_gives_and_no_more(tmp_path):
    location = Location.lake(str(tmp_path))
    for stated in (1, 65_536):
        assert buckets_of(location, "namespace_state", {BUCKETS_PROPERTY: str(stated)}) == stated
    for stated in ("0", "65537", "-1", "", "1.0"):
        with pytest.raises(UsageError):
            buckets_of(location, "namespace_state", {BUCKETS_PROPERTY: stated})
