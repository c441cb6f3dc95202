"""The demo's logs: the published entries are accepted, each forgery is told by what gives it away."""

from strandline.dialects.ipfslog.author import open_logs
from strandline.dialects.ipfslog.spark.dialect import IPFSLOG
from strandline.kernels.formats import format_of
from support.ipfslog_cases import document


def test_the_demo_lands_two_logs_and_two_forgeries():
    shown = IPFSLOG.demo()
    assert shown == IPFSLOG.demo()
    formats = {file.name: format_of(file.name, IPFSLOG.info.formats) for file in shown.files}
    opened = open_logs([(file.content, formats[file.name]) for file in shown.files])
    counted = {file.name: IPFSLOG.count_records(file.content, formats[file.name]) for file in shown.files}
    assert counted == {file.name: file.records for file in shown.files}
    assert opened.counts.read == sum(counted.values())
    assert {log_id: log.length for log_id, log in opened.logs.items()} == {"example-log": 2, "demo-shop": 4}
    rejected = {row.namespace: row.reasons for row in opened.quarantine}
    assert rejected == {
        "log:example-log": ("SIGNATURE_INVALID",),
        shown.rejection.namespace: (shown.rejection.reason,),
    }
    [told] = [row.evidence for row in opened.quarantine if row.namespace == shown.rejection.namespace]
    assert set(told[shown.rejection.reason]) == {"field", "expected", "actual"}


def test_the_published_entries_stand_as_they_were_printed():
    from strandline.dialects.ipfslog.demo import published

    assert [each["hash"] for each in published()] == [
        each["hash"] for each in document()["published"]["entries"]
    ]
