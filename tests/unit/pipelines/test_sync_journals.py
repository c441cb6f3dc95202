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
from strandline.tables.new_manifests import write_manifest
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


def test_answers_and_their_manifest_replace_nothing_but_what_a_killed_run_left(tmp_path):
    out = tmp_path / "out.jsonl"

    def code():
        try:
            sync_journals.AnswerRequest(LocalNodes({}), tmp_path / "ask.jsonl", out)
        except UsageError as refused:
            return refused.code
        return None

    assert code() is None
    out.write_bytes(b"answers for another peer")
    assert code() == "OUT_EXISTS"
    write_manifest([out], dialect="sdmp", records_in=lambda content, form: 0)
    out.unlink()
    assert code() is None
    (tmp_path / "other.jsonl").touch()
    write_manifest(
        [tmp_path / "other.jsonl"], dialect="sdmp", records_in=lambda content, form: 0, name=out.name
    )
    assert code() == "OUT_EXISTS"
    out = tmp_path / "out\\jsonl"
    assert code() == "OUT_NAME"
    out = tmp_path
    assert code() == "OUT_IS_FOLDER"
