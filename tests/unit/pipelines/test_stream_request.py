"""Which options go with a folder and which with a topic; what ended a stream."""

from dataclasses import dataclass

import pytest
from pyspark.errors import StreamingQueryException

from strandline.core.errors import FaultError, UsageError
from strandline.dialects import dialect
from strandline.pipelines.stream import StreamRequest, _stream_error, run, topic_in
from strandline.pipelines.stream_objects import ObjectSource
from strandline.pipelines.stream_source import TopicSource

TOPIC = "kafka://localhost:9092/journals"


def test_folders_and_topics_have_bounds_of_their_own():
    assert not topic_in(StreamRequest("landing", format="lines", max_files=3))
    topic = topic_in(StreamRequest(TOPIC, max_records=3))
    assert topic is not None
    assert topic.source == TOPIC


@pytest.mark.parametrize(
    ("request_", "code", "named"),
    [
        (StreamRequest("landing", max_records=3), "OPTION_OF_TOPIC", "--max-records"),
        (StreamRequest("landing", kafka_config=b""), "OPTION_OF_TOPIC", "--kafka-config"),
        (StreamRequest(TOPIC, max_files=3), "OPTION_OF_FOLDER", "--max-files"),
        (StreamRequest(TOPIC, format="lines"), "OPTION_OF_FOLDER", "--format"),
    ],
)
def test_an_option_of_the_other_kind_of_source_is_refused(request_, code, named):
    with pytest.raises(UsageError) as refused:
        topic_in(request_)
    assert (refused.value.code, refused.value.exit_code) == (code, 2)
    assert named in refused.value.message


class Source:
    """A source of which is known whether it is still there."""

    def __init__(self, there: bool) -> None:
        self.there = there

    def exists(self) -> bool:
        return self.there

    def gone_error(self) -> FaultError:
        return FaultError("SOURCE_GONE", "The folder is gone", "make it again")

    def error_of(self, text: str) -> FaultError | None:
        return TopicSource.error_of(self, text)


@dataclass
class Batches:
    """What is known of the batches of a stream when it ends."""

    failed: BaseException | None
    has_begun: bool = True


def why(text: str, failed: BaseException | None, *, there: bool = True, begun: bool = True) -> BaseException:
    return _stream_error(StreamingQueryException(text), Batches(failed, begun), Source(there), "/checkpoint")


OURS = FaultError("WRITE_CONFLICT", "Another writer was faster.", "Run it again.")
BUG = ZeroDivisionError("a bug")


@pytest.mark.parametrize(
    ("text", "failed", "there", "code"),
    [
        ("one of our runs said why", OURS, True, "WRITE_CONFLICT"),
        ("one of our runs said why", OURS, False, "WRITE_CONFLICT"),
        ("No such file", None, False, "SOURCE_GONE"),
        ("[KAFKA_DATA_LOSS.X] Some data may have been lost", None, True, "MESSAGES_GONE"),
        ("\n[SOMETHING_ELSE] happened\n\tat x.y", None, True, "STREAM_STOPPED"),
    ],
)
def test_what_ended_a_stream_is_told_by_what_is_nearest_to_the_cause(text, failed, there, code):
    ended = why(text, failed, there=there)
    assert isinstance(ended, FaultError)
    assert ended.code == code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (
            'org.apache.hadoop.fs.UnsupportedFileSystemException: No FileSystem for scheme "s3a"',
            "STORE_JAR_MISSING",
        ),
        (
            "ClassNotFoundException: Class org.apache.hadoop.fs.s3a.S3AFileSystem not found",
            "STORE_JAR_MISSING",
        ),
        (
            "java.nio.file.AccessDeniedException: s3a://bucket/in: getFileStatus: key AKIA",
            "SOURCE_UNREADABLE",
        ),
        (
            "org.apache.hadoop.fs.s3a.AWSClientIOException: listObjects() on s3a://bucket/in",
            "SOURCE_UNREADABLE",
        ),
        (
            "org.apache.hadoop.fs.azurebfs.contracts.exceptions.AbfsRestOperationException: Operation failed: AKIA",
            "SOURCE_UNREADABLE",
        ),
        (
            "org.apache.hadoop.security.AccessControlException: Permission denied: user=AKIA",
            "SOURCE_UNREADABLE",
        ),
        ("java.io.FileNotFoundException: offsets/3", None),
    ],
)
def test_a_store_that_hadoop_cannot_list_is_told_from_a_damaged_checkpoint(text, code):
    source = ObjectSource(None, b"s3://bucket/in", every=None, most=1)
    error = source.error_of(text)
    assert (None if error is None else error.code) == code
    assert error is None or ("AKIA" not in str(error) and "s3" in error.message)


@pytest.mark.parametrize(
    ("prefix", "where", "gone"),
    [
        (b"s3://bucket/in", "spark.hadoop.fs.s3a..", "The bucket of s3://bucket/in no"),
        (b"gs://bucket/in", "spark.hadoop.fs.gs..", "The bucket of gs://bucket/in no"),
        (b"hdfs://namenode:8020/in", "HADOOP_CONF_DIR", "The folder hdfs://namenode:8020/in no"),
    ],
)
def test_a_store_is_told_where_hadoop_looks_for_it(prefix, where, gone):
    source = ObjectSource(None, prefix, every=None, most=1)
    refused = source.error_of("org.apache.hadoop.security.AccessControlException: no")
    assert refused is not None
    assert f"({where}" in refused.next
    assert source.gone_error().message.startswith(gone)


def test_what_spark_says_of_a_stream_that_it_ended_is_shown_in_one_line():
    ended = why("\n[SOMETHING_ELSE] happened\n\tat x.y", None)
    assert str(ended).startswith("Spark ended the stream: [SOMETHING_ELSE] happened. ")


def test_a_bug_of_ours_that_ended_a_stream_stays_what_it_is():
    assert why("its text", BUG) is BUG


def test_a_stream_that_ended_before_its_first_batch_has_a_damaged_checkpoint():
    ended = why("[CANNOT_READ] it", None, begun=False)
    assert isinstance(ended, FaultError)
    assert ended.code == "CHECKPOINT_DAMAGED"
    assert "/checkpoint" in ended.message


def test_a_stream_beside_another_one_with_its_checkpoint_does_not_say_that_it_is_damaged():
    ended = why(
        "[STREAM_FAILED] [CONCURRENT_STREAM_LOG_UPDATE] Concurrent update to the log.", None, begun=False
    )
    assert isinstance(ended, FaultError)
    assert ended.code == "STREAM_STOPPED"
    assert "delete" not in ended.next


def test_a_stream_over_connect_is_refused_before_anything_is_made():
    class OverConnect:
        """A store of a session over Spark Connect."""

        spark = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})()

    with pytest.raises(UsageError) as refused:
        run(OverConnect(), dialect("sdmp"), StreamRequest("landing"), None, None, None)
    assert (refused.value.code, refused.value.exit_code) == ("STREAM_OVER_CONNECT", 2)
    assert "ingest" in refused.value.next
