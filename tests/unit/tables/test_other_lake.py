"""What Spark says of a file that it cannot read: it is the other lake's, or it is none of it."""

from pathlib import Path

import pytest
from pyspark.errors import AnalysisException

from strandline.core.errors import FaultError, UsageError
from strandline.tables.location import Location
from strandline.tables.other_lake import OtherLake


class Reads:
    """The properties of a lake, and no tables."""

    def __init__(self, path: Path, buckets: str | None = "16") -> None:
        self.location = Location.lake(str(path))
        self._buckets = buckets

    def properties(self, _table: str) -> dict[str, str]:
        return {} if self._buckets is None else {"strandline.buckets": self._buckets}


def said(path: Path, condition: str = "PARQUET_COLUMN_DATA_TYPE_MISMATCH") -> Exception:
    return RuntimeError(
        f"An error occurred.\n: org.apache.spark.SparkException: [FAILED_READ_FILE.{condition}] Encountered error "
        f"while reading file file:{str(path).replace(' ', '%20')}/node_journal_line/bucket=0/x.parquet. Data type\n\tat"
    )


@pytest.mark.parametrize("condition", ["PARQUET_COLUMN_DATA_TYPE_MISMATCH", "NO_HINT", "FILE_NOT_EXIST"])
def test_a_file_of_the_other_lake_is_named(tmp_path, condition):
    there = tmp_path / "the other"
    lake = OtherLake(Reads(there))  # type: ignore[arg-type]
    lake._rows["node_journal_line"] = None  # type: ignore[assignment]
    ours = Location.lake(str(tmp_path / "ours"))
    damage = lake.damage(said(there, condition), ours)
    assert damage is not None
    assert damage.code == "TABLE_DAMAGED"
    assert f"file:{there}/node_journal_line/bucket=0/x.parquet" in damage.message
    assert lake.damage(said(tmp_path / "ours", condition), ours) is None
    assert lake.damage(RuntimeError("java.lang.NullPointerException"), ours) is None
    # A log can name any file.
    elsewhere = lake.damage(said(tmp_path / "elsewhere", condition), ours)
    assert elsewhere is not None
    assert str(there) in elsewhere.message
    assert lake.damage(said(tmp_path / "elsewhere", condition), Location.parse_schema("main.ours")) is None


def test_a_lake_in_a_schema_says_of_no_file_that_it_is_its_own(tmp_path):
    reads = Reads(tmp_path)
    reads.location = Location.parse_schema("main.theirs")
    lake = OtherLake(reads)  # type: ignore[arg-type]
    lake._rows["node_journal_line"] = None  # type: ignore[assignment]
    assert lake.damage(said(tmp_path), Location.lake(str(tmp_path / "ours"))) is None


def test_a_log_that_delta_does_not_accept_is_named(tmp_path):
    class Refusing(Reads):
        def read(self, _table):
            raise AnalysisException(
                "An error occurred.\n: x.DeltaException: [DELTA_FEATURES_PROTOCOL_METADATA_MISMATCH] No.\n\tat x.y"
            )

    lake = OtherLake(Refusing(tmp_path))  # type: ignore[arg-type]
    with pytest.raises(FaultError) as refused:
        lake.check(["node_journal_line"])
    assert refused.value.code == "TABLE_DAMAGED"
    assert "table node_journal_line of the lake" in refused.value.message
    assert refused.value.message.endswith(f"{tmp_path}: [DELTA_FEATURES_PROTOCOL_METADATA_MISMATCH] No.")


def test_a_table_with_a_feature_that_is_unknown_here_is_no_damage(tmp_path):
    class Refusing(Reads):
        def read(self, _table):
            raise AnalysisException(
                '[DELTA_UNSUPPORTED_FEATURES_FOR_READ] Unsupported Delta read feature: table "x" requires reader table '
                'feature(s) that are unsupported by Delta Lake "4.4.0": someFeature.\n\tat x.y'
            )

    lake = OtherLake(Refusing(tmp_path))  # type: ignore[arg-type]
    with pytest.raises(FaultError) as refused:
        lake.check(["node_journal_line"])
    assert refused.value.code == "TABLE_UNSUPPORTED"
    assert f"the table node_journal_line of {tmp_path} has a feature" in refused.value.message
    assert "someFeature" in refused.value.message
    assert "DROP FEATURE" in refused.value.next


@pytest.mark.parametrize("buckets", [None, "", "0", "-1", "65537", "abc", "1e3", " 16", "١٦"])
def test_a_lake_that_says_no_number_of_buckets_is_refused(tmp_path, buckets):
    with pytest.raises(UsageError) as refused:
        OtherLake(Reads(tmp_path, buckets))  # type: ignore[arg-type]
    assert refused.value.code == "TABLE_DIFFERS"
    assert OtherLake(Reads(tmp_path, "65536")).buckets == 65_536  # type: ignore[arg-type]
