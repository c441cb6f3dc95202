"""`sync` by files, without a JVM: what it needs of a lake."""

from datetime import UTC, datetime

import pytest

from strandline.config import defaults
from strandline.core.errors import UsageError
from strandline.dialects import dialect
from strandline.dialects.sdmp.author import LocalNodes
from strandline.pipelines import sync_journals
from strandline.pipelines.run_context import RunContext
from strandline.tables.commits import Retry
from strandline.tables.location import Location
from strandline.tables.store import TableStore

CONTEXT = RunContext("r", "sync", "1", datetime.now(UTC))


@pytest.mark.parametrize("name", ["absent", "empty"])
def test_an_answer_makes_no_lake(name, tmp_path):
    (tmp_path / "empty").mkdir()
    lake = tmp_path / name
    store = TableStore(None, Location.lake(str(lake)), Retry(defaults().merge), run_id="r")
    request = sync_journals.AnswerRequest(LocalNodes({}), tmp_path / "ask.jsonl", tmp_path / "out.jsonl")
    with pytest.raises(UsageError) as refused:
        sync_journals.answer(store, dialect("sdmp"), request, CONTEXT)
    assert refused.value.code == "LAKE_NOT_FOUND"
    assert [each.name for each in tmp_path.iterdir()] == ["empty"]
    assert list((tmp_path / "empty").iterdir()) == []
