"""Which checks share a job."""

from strandline.contracts.checks import Check
from strandline.pipelines.check import JOB_BYTES, jobs


def check(name: str, *tables: str) -> Check:
    return Check(name, "", tables, "")


A, B, AB, NONE = check("a", "a"), check("b", "b"), check("ab", "a", "b"), check("none", "none", "nothing")


def shared(every, sizes):
    return [([each.name for each in asked], work) for asked, work in jobs(every, sizes)]


def test_small_checks_share_a_job():
    assert shared([A, B, AB], {"a": 1, "b": 2}) == [(["a", "b", "ab"], 6)]


def test_a_check_whose_tables_are_empty_is_not_asked():
    assert shared([NONE, A, B], {"a": 1, "b": 0, "none": 0, "nothing": 0}) == [(["a"], 1)]
    assert shared([NONE], {"none": 0, "nothing": 0}) == []


def test_a_check_that_reads_one_table_with_rows_is_asked():
    assert shared([AB], {"a": 0, "b": 5}) == [(["ab"], 5)]


def test_checks_share_a_job_while_they_read_no_more_than_it_may():
    half = JOB_BYTES // 2
    assert shared([A, B, AB], {"a": half, "b": half}) == [(["a", "b"], 2 * half), (["ab"], 2 * half)]
    assert shared([A, B], {"a": 3 * JOB_BYTES, "b": 1}) == [(["a"], 3 * JOB_BYTES), (["b"], 1)]
