"""The page about device logs: its examples are true. The demo: its files are those of the vectors."""

import doctest
from pathlib import Path

from strandline.dialects.devicelog.codec import read_entry
from strandline.dialects.devicelog.demo import demo, example
from strandline.dialects.devicelog.reduce import reduce
from strandline.dialects.devicelog.types import Entry, Refused
from support.device_groups import vectors


def test_the_examples_of_the_page_are_true():
    page = Path(__file__).parents[3] / "docs" / "devicelog.md"
    found = doctest.testfile(str(page), module_relative=False)
    assert found.attempted > 20
    assert found.failed == 0


def test_the_demo_is_the_published_example():
    held = {entry.record_id: entry for log in example() for entry in log.entries()}
    expected = vectors()["example"]["states"]["keep-both"]["state"]
    assert reduce(held.values()).state_hash.hex() == expected
    seen = set()
    phone, computer, _, altered = demo().files
    for file in (phone, computer):
        entries = [read_entry(line) for line in file.content.splitlines()]
        assert len(entries) == file.records
        assert all(isinstance(entry, Entry) for entry in entries)
        seen |= {entry.record_id for entry in entries}
    assert seen == held.keys()
    refused = read_entry(altered.content)
    assert isinstance(refused, Refused)
    assert refused.reasons == (demo().rejection.reason,)
    assert refused.namespace == demo().rejection.namespace
