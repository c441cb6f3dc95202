"""`sync --from` between lakes that pruned and lakes that did not: nothing comes back, nothing is taken on trust."""

from strandline.dialect_api.pruning import Erasing
from strandline.dialects.devicelog.spark.tables import REDUCED as DEVICE_TABLES
from strandline.dialects.ipfslog.reduce import LogConfiguration
from support.devicelog_reference import entry_row
from support.ipfslog_cases import chain, entry
from support.log_lakes import enter, enter_identities, file_of, lake_tables, union
from support.pruning import pruned_row
from support.random_devices import random_history

MOSTLY_FINAL = 53
"""A random history of which most messages can be erased."""
RECORDS = ("ipfs_log_entry", "device_log_entry")


def answers(lake):
    """The reduced tables of logs and device logs."""
    return lake_tables(lake) | lake_tables(lake, DEVICE_TABLES)


def pruned_ids(lake):
    return {tuple(row) for row in lake.rows("pruned_record", "namespace", "record_id")}


def held_ids(lake):
    return {tuple(row) for table in RECORDS for row in lake.rows(table, "namespace", "record_id")}


def lacking(report):
    return {name: report.counts[name] for name in ("missing", "pruned_there", "incomplete", "behind")}


NOTHING = dict.fromkeys(("missing", "pruned_there", "incomplete", "behind"), 0)


def test_what_one_lake_pruned_does_not_come_back_and_what_another_never_had_is_counted_and_waited_for(
    new_lake,
):
    logs = [chain(f"log {number}", 12) for number in range(3)]
    devices = random_history(MOSTLY_FINAL).entries()
    told = {made[0].log_id: LogConfiguration("keyvalue", ("*",), "config") for made in logs}
    files = file_of(told)
    whole, late = (new_lake(name, dialect="ipfslog") for name in ("whole", "late"))
    enter_identities(whole)
    enter(whole, [one for made in logs for one in made])
    union(whole, "device_log_entry", [entry_row(each) | {"run_id": "test"} for each in devices])
    whole.reduce(files=files)
    pruned = new_lake("pruned", dialect="ipfslog", like=whole.path)
    before, everything = answers(whole), held_ids(whole)
    done = pruned.gc(erase={"devicelog": Erasing()})
    gone = pruned_ids(pruned)
    erased = {key for key in gone if key[0] == devices[0].namespace}
    assert len(gone) == done.counts["pruned"] > len(erased) > 0

    # A pruned record counts as held: of a lake that has all and more, only what is new comes.
    more = chain("log 3", 2)
    enter(whole, more)
    came = {(one.namespace, one.record_id) for one in more}
    report = pruned.bring(whole, files=files)
    assert lacking(report) == NOTHING | {"missing": 2, "behind": 1}
    # Those of the logs, of the devices, and of identities.
    assert (report.counts["new"], report.counts["known"], report.counts["equal"]) == (2, 0, len(logs) + 2)
    assert held_ids(pruned) == (everything | came) - (gone - erased)
    whole.reduce(files=files)
    after = answers(whole)
    assert answers(pruned) == after
    assert {row for rows in before.values() for row in rows} <= {
        row for rows in after.values() for row in rows
    }

    # A lake that never had the pruned records takes what it can verify. Two of them are said to be: one that nobody
    # ever had, and one that is stored.
    forged = [entry("never", log_id="log 0", time=99), more[1]]
    union(pruned, "pruned_record", [pruned_row(each, 1) for each in forged])
    gone |= {(each.namespace, each.record_id) for each in forged}
    enter_identities(late)
    enter(late, [one for made in logs for one in made[:3]])
    expected = gone - held_ids(late)
    report = late.bring(pruned, files=files)
    lacks = lacking(report)
    assert (lacks["pruned_there"], lacks["incomplete"]) == (len(expected), len({key[0] for key in expected}))
    plan = {row["namespace"]: row["pruned_there"] for row in report.members["plan"]}
    assert sum(plan.values()) == len(expected)
    assert held_ids(late).isdisjoint(expected)
    assert held_ids(late) >= {key for key in held_ids(pruned) - gone if key[0].startswith("log:")}
    waiting = set(late.rows("quarantine", "namespace", "record_id", "status"))
    assert (report.counts["deferred"], report.exit) == (len(waiting), 0)
    assert {status for *_, status in waiting} == {"deferred"}
    # What waits is asked for again as long as nobody brings the rest; then all are one.
    assert lacking(late.bring(whole, files=files))["pruned_there"] == 0
    assert late.rows("quarantine") == []
    assert (held_ids(late), answers(late)) == (held_ids(whole), after)
    # The sets are equal, whoever asks, but for what nobody ever had.
    report = whole.bring(pruned, files=files)
    assert lacking(report) == NOTHING | {"pruned_there": 1, "incomplete": 1}
    assert report.counts["equal"] == report.namespaces - 1
    ids = ", ".join(f"'{each.record_id.hex().upper()}'" for each in forged)
    pruned.damage(f"DELETE FROM pruned_record WHERE hex(record_id) IN ({ids})")
