"""What a user of `sql` is told of Spark's error about a name."""

import pytest
from pyspark.errors import AnalysisException

from strandline.core.errors import UsageError
from strandline.pipelines.sql.query import query_errors


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("`namespace_health`", "create the views of the lake: `strandline init --schema CATALOG.SCHEMA`"),
        ("Namespace_Health", "create the views of the lake"),
        ("namespace_helth", "did you mean namespace_health?"),
        ("`other`.`namespace_health`", "did you mean namespace_health?"),
    ],
)
def test_a_view_that_a_schema_lacks_is_created_by_init(name, advice):
    with pytest.raises(UsageError) as told, query_errors():
        raise AnalysisException(
            message="", errorClass="TABLE_OR_VIEW_NOT_FOUND", messageParameters={"relationName": name}
        )
    assert told.value.code == "QUERY_INVALID"
    assert told.value.next.startswith(advice)
