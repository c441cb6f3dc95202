"""What is told to a dialect's reducer is looked at before anything is read or written."""

import pytest

from strandline.core.errors import UsageError
from strandline.dialect_api.info import GivenOption
from strandline.dialects import every
from strandline.pipelines import reducer_options

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
