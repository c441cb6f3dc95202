"""The demo's logs: the published entries are accepted, each forgery is told by what gives it away."""

from strandline.dialects.ipfslog.author import open_logs
from strandline.dialects.ipfslog.info import LOG_CONFIG
from strandline.dialects.ipfslog.reduce import parse_log_config, plan_log, prove_log
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


def test_more_than_half_of_the_pruned_log_may_go_and_its_state_stays():
    pruning = IPFSLOG.demo().pruning
    opened = open_logs([(pruning.file.content, format_of(pruning.file.name, IPFSLOG.info.formats))])
    [(log_id, log)] = opened.logs.items()
    assert (f"log:{log_id}", log.length) == (pruning.namespace, pruning.file.records)
    stores = parse_log_config(pruning.options[LOG_CONFIG].content, "stores")
    plan = plan_log(log.values, stores[log_id], skip_window=pruning.skip_window)
    assert len(plan.prune) * 2 > log.length
    assert prove_log(log.values, stores[log_id], plan).equal
