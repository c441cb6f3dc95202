"""What is told to a dialect's reducer is looked at before anything is read or written."""

import json

import pytest

from strandline.core.errors import UsageError
from strandline.dialect_api.info import GivenOption
from strandline.dialects import dialect, every
from strandline.pipelines import reducer_options
from strandline.pipelines.reducer_options import MEMBER, REFUSED
from strandline.tables.location import Location
from strandline.tables.reads import TableReads
from strandline.tables.run_versions import RUN_VERSION
from support import delta_rs_lake

LOGS = b'{"logs": [{"id": "/shop", "store": "keyvalue", "write": ["*"]}]}'


@pytest.mark.parametrize("files", [{}, {"log-config": None}, {"log-config": GivenOption("logs.json", LOGS)}])
def test_what_the_dialect_understands_passes(files):
    reducer_options.check(every(), files)


@pytest.mark.parametrize(
    ("raw", "member"),
    [
        (b"{", r"logs\.json is not strict JSON"),
        (
            LOGS.replace(b"keyvalue", b"unheard"),
            r"logs\.json names an unknown store in logs\[0\]\.store",
        ),
        (LOGS.replace(b'["*"]', b"[1]"), r"logs\.json must have a list of texts in logs\[0\]\.write"),
    ],
)
def test_a_file_that_says_something_else_is_wrong_usage_with_its_name_and_member(raw, member):
    with pytest.raises(UsageError, match=member) as refused:
        reducer_options.check(every(), {"log-config": GivenOption("logs.json", raw)})
    assert refused.value.code == "LOG_CONFIG_INVALID"


def ran(lake, run_id, version, read=(), **detail):
    """A row of `run`, which was added at a version of the table."""
    row = {"run_id": run_id, "detail": json.dumps({**detail, RUN_VERSION: version})}
    delta_rs_lake.write(lake, "run", [row | {"read_versions": [(table, 1) for table in read]}])


def told(text):
    return {"log-config": {"file": "logs.json", "text": text}}


def test_the_options_of_a_small_lake_are_those_of_the_newest_run_that_says_something_and_spark_is_not_asked(
    tmp_path,
):
    logs, other = dialect("ipfslog"), "node_journal_line"
    table = logs.info.record_table
    ran(tmp_path, "run-3-a", 7, [table, other], **{MEMBER: told(LOGS.decode()), REFUSED: ["log:a", "node:b"]})
    # Older ones, and those that say nothing of logs: of another dialect, without a member, or with another one.
    ran(tmp_path, "run-4-b", 6, [table], **{MEMBER: told(None), REFUSED: []})
    ran(tmp_path, "run-5-c", 8, [other], **{REFUSED: ["log:c"]})
    ran(tmp_path, "run-6-d", 9, [table], **{MEMBER: {"aura-pins": None, "log-config": None}})
    ran(tmp_path, "run-7-e", 10, [], **{MEMBER: None})
    tables = TableReads(None, Location.lake(str(tmp_path)))
    found = reducer_options.resolve(tables, (logs,), {})
    assert found.values == {
        "ipfslog": logs.parse_reducer_options({"log-config": GivenOption("logs.json", LOGS)})
    }
    assert found.retry_namespaces == {"ipfslog": ("log:a",)}
    assert found.notes == ["--log-config is the file logs.json, given to the run run-3-a"]
    # A later run removed the file, and reduced what was refused.
    ran(tmp_path, "run-8-f", 11, [table], **{MEMBER: told(None), REFUSED: []})
    found = reducer_options.resolve(tables, (logs,), {})
    assert found.values == {"ipfslog": logs.parse_reducer_options({})}
    assert (found.retry_namespaces, found.notes) == ({"ipfslog": ()}, [])
