"""Over Spark Connect there are no plans to check a query by: it is refused."""

import pytest

from strandline.core.errors import FaultError
from strandline.pipelines.sql.check import query_check
from strandline.tables.location import Location


class NoJvm:
    """What is asked of a session whose JVM is on another machine."""

    __module__ = "pyspark.sql.connect.session"


def test_a_query_that_cannot_be_checked_is_refused_before_it_is_parsed() -> None:
    with pytest.raises(FaultError) as refused:
        query_check(NoJvm(), Location.lake("lake"))
    assert (refused.value.code, refused.value.exit_code) == ("PARSER_NOT_REACHED", 3)
    assert "SQL editor" in refused.value.next
