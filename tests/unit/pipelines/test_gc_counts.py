"""What gc counts of small tables, without Spark."""

from decimal import Decimal

from strandline.dialects import every
from strandline.pipelines.gc_runs import kept_by_others
from strandline.tables.location import Location
from strandline.tables.prunings import next_number
from strandline.tables.reads import TableReads
from support import delta_rs_lake


def test_the_records_of_dialects_that_keep_all_are_counted_by_their_states(tmp_path):
    counts = (("sdmp", 3), ("sdmp", 4), ("devicelog", 5), ("ipfslog", 6))
    states = [{"dialect": dialect, "record_count": records} for dialect, records in counts]
    delta_rs_lake.write(tmp_path, "namespace_state", states)
    tables, dialects = TableReads(None, Location.lake(str(tmp_path))), tuple(every())
    pruning = [(each, None) for each in dialects if each.info.name == "ipfslog"]
    kept = {"sdmp": {"KIND_KEPT": 7}, "devicelog": {"KIND_KEPT": 5}}
    assert kept_by_others(tables, dialects, pruning, ()) == kept
    assert kept_by_others(tables, dialects, pruning, ("devicelog",)) == {"devicelog": kept["devicelog"]}
    assert kept_by_others(tables, dialects, pruning, ("ipfslog",)) == {}


def test_the_next_collection_has_the_number_after_the_greatest_one_of_a_version(tmp_path):
    for numbers in ([], [3, 1], [9]):
        rows = [{"gc_number": number, "generation": Decimal(1)} for number in numbers]
        delta_rs_lake.write(tmp_path, "pruned_record", rows)
    tables = TableReads(None, Location.lake(str(tmp_path)))
    newest = tables.version("pruned_record")
    assert [next_number(tables, version) for version in (0, newest - 1, newest)] == [1, 4, 10]
