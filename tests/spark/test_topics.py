"""A topic of a real broker is followed like a folder: with the tables of batch runs, however it was cut or killed."""

import random
import shutil
from pathlib import Path

import pytest

from strandline.core.errors import FaultError, UsageError
from strandline.dialects.sdmp.author import synthetic
from strandline.dialects.sdmp.codec import batch, node_of_line
from strandline.pipelines.faults import Faults
from strandline.session.classic import brokers as asked
from strandline.tables import topics
from support.broker import PASSWORDS, broker, client_config
from support.kills import KilledBatchError, batch_killed_at
from support.lakes import write_files
from support.provenance import sources
from support.random_deliveries import corpus as logs
from support.random_journals import corpus as journals
from support.topics import PARTS, Topics


@pytest.fixture(scope="module")
def brokers(settings, tmp_path_factory):
    with broker(Path(settings.spark.cache), tmp_path_factory.mktemp("broker") / "node") as running:
        yield running


@pytest.fixture(scope="module")
def cluster(spark, brokers):
    made = Topics(spark, brokers.address)
    yield made
    made.close()


def lines_of(files: dict[str, bytes]) -> list[bytes]:
    """The lines of all files of lines, in any order."""
    found = [
        line for name, data in sorted(files.items()) if name.endswith(".jsonl") for line in data.split(b"\n")
    ]
    random.Random(1).shuffle(found)
    return [line for line in found if line]


def half_of(lines: list[bytes]) -> int:
    """So many that two micro-batches take all: Spark shares them out among partitions, and rounds down."""
    return len(lines) // 2 + PARTS


def test_a_topic_cut_stopped_and_replayed_ends_with_the_tables_of_batch_runs(cluster, new_lake, tmp_path):
    first, second = map(lines_of, journals(seed=71, journals=30, runs=2))
    source = cluster.topic("followed.journals")
    streamed, whole = new_lake("streamed"), new_lake("batch")
    cluster.send(source, first)
    report = streamed.stream(source, max_records=half_of(first))
    assert (report.outcome, report.counts["messages"]) == ("ok", len(first))
    assert report.counts["batches"] == 2
    cluster.send(source, [*second, None, b""])
    for point in ("ingest.records", "stream.landed"):
        with pytest.raises(KilledBatchError):
            streamed.stream(source, faults=batch_killed_at(point))
    report = streamed.stream(source)
    assert report.counts["messages"] >= len(second)

    files = {"1.jsonl": first, "2.jsonl": second}
    together = {name: b"\n".join(lines) + b"\n" for name, lines in files.items()}
    whole.ingest(write_files(tmp_path / "in", together))
    whole.reduce()
    assert streamed.tables() == whole.tables()
    # Lines have topic and partition as source, without the offset.
    assert sources(streamed, "node_journal_line") - {None} == {f"{source}/{part}" for part in range(PARTS)}

    assert streamed.stream(source).counts["batches"] == 0
    shutil.rmtree(streamed.path / "_checkpoints")
    replayed = streamed.stream(source)
    assert replayed.counts["messages"] == len(first) + len(second) + 2
    assert replayed.counts["new"] == 0
    assert streamed.tables() == whole.tables()


@pytest.mark.slow
def test_a_topic_of_entries_ends_with_the_tables_of_a_batch_run(cluster, new_lake, tmp_path):
    [lines] = map(lines_of, logs(72, 20, 1))
    source = cluster.topic("followed.entries")
    streamed, whole = new_lake("streamed", dialect="ipfslog"), new_lake("batch", dialect="ipfslog")
    cluster.send(source, lines)
    report = streamed.stream(source, max_records=half_of(lines))
    assert (report.outcome, report.counts["messages"]) == ("ok", len(lines))
    assert report.counts["batches"] == 2
    whole.ingest(write_files(tmp_path / "in", {"all.jsonl": b"\n".join(lines) + b"\n"}))
    whole.reduce()
    assert streamed.tables() == whole.tables()


def test_messages_of_another_dialect_are_rejected_and_named_by_partition_and_offset(cluster, new_lake):
    source = cluster.topic("mixed")
    lines = list(synthetic(5, 3))
    frame = batch(node_of_line(lines[0]), node_of_line(lines[0]), lines[1:])
    cluster.send(source, [frame, b'{"cid":"x","data":"y"}', b"\xff\xfe", b"{"])
    lake = new_lake()
    report = lake.stream(source)
    assert (report.counts["read"], report.counts["rejected"]) == (len(lines) - 1 + 3, 3)
    assert {place for [place] in lake.rows("quarantine", "source")} >= {
        f"{source}/1@0",
        f"{source}/2@0",
        f"{source}/0@1",
    }
    assert all("TRUNCATED" not in reasons for [reasons] in lake.rows("quarantine", "reasons"))


def test_a_topic_that_goes_ends_its_stream_and_one_made_anew_is_another(cluster, new_lake, tmp_path):
    source, checkpoint = cluster.topic("gone"), str(tmp_path / "checkpoint")
    lines = list(synthetic(6, 3))
    cluster.send(source, [batch(node_of_line(lines[0]), node_of_line(lines[0]), lines[1:])])
    lake, other = new_lake("one"), new_lake("other")
    shutil.rmtree(other.path)
    lake.stream(source, checkpoint=checkpoint)
    with pytest.raises(FaultError) as refused:
        other.stream(source, checkpoint=checkpoint)
    assert refused.value.code == "CHECKPOINT_FOREIGN"
    cluster.send(source, [batch(node_of_line(lines[0]), node_of_line(lines[0]), lines[1:])])
    going = Faults("stream.reduced", fire=lambda: cluster.delete("gone"))
    for faults in (going, Faults()):
        with pytest.raises(FaultError) as stopped:
            lake.stream(source, every=0.2, checkpoint=checkpoint, faults=faults)
        assert stopped.value.code == "SOURCE_GONE"
        assert source in stopped.value.message
    with pytest.raises(UsageError) as refused:
        lake.stream(source, checkpoint=str(tmp_path / "fresh"))
    assert refused.value.code == "SOURCE_MISSING"
    cluster.topic("gone")
    with pytest.raises(FaultError) as refused:
        lake.stream(source, checkpoint=checkpoint)
    assert refused.value.code == "CHECKPOINT_FOREIGN"


def test_messages_that_were_removed_before_they_were_landed_are_missed(cluster, new_lake):
    source = cluster.topic("removed")
    lines = list(synthetic(7, 3))
    frame = batch(node_of_line(lines[0]), node_of_line(lines[0]), lines[1:])
    lake = new_lake()
    cluster.send(source, [frame] * PARTS)
    assert lake.stream(source).counts["messages"] == PARTS
    cluster.send(source, [frame] * (3 * PARTS))
    cluster.remove("removed", 3)
    with pytest.raises(FaultError) as stopped:
        lake.stream(source)
    assert stopped.value.code == "MESSAGES_GONE"


def test_a_topic_with_encryption_and_login_is_read_by_those_who_may_and_no_secret_is_stored(
    brokers, cluster, new_lake, monkeypatch
):
    cluster.topic("secure")
    source = f"kafka://{brokers.secure}/secure"
    lines = list(synthetic(8, 3))
    cluster.send(source, [batch(node_of_line(lines[0]), node_of_line(lines[0]), lines[1:])])
    cluster.allow("secure", "reader", "DESCRIBE", "READ")
    cluster.allow("secure", "other", "DESCRIBE")
    lake = new_lake()

    def refused(config: bytes | None) -> tuple[str, str]:
        with pytest.raises((FaultError, UsageError)) as caught:
            lake.stream(source, kafka_config=config)
        assert not any(secret in str(vars(caught.value)) for secret in PASSWORDS.values())
        return caught.value.code, caught.value.message

    right = client_config(brokers, "reader", PASSWORDS["reader"])
    code, message = refused(client_config(brokers, "reader", "the-secret-of-nobody"))
    assert (code, "Invalid username or password" in message) == ("SOURCE_DENIED", True)
    # It may describe the topic, and is refused when the stream reads.
    code, message = refused(client_config(brokers, "other", PASSWORDS["other"]))
    assert (code, "secure" in message) == ("SOURCE_DENIED", True)
    assert refused(right.replace(b'";', b'" x y";'))[0] == "KAFKA_CONFIG_INVALID"
    assert refused(right.replace(b"issuer.pem", b"none.pem"))[0] == "KAFKA_CONFIG_INVALID"
    assert refused(b"\\u00zz")[0] == "KAFKA_CONFIG_INVALID"
    monkeypatch.setattr(asked, "SECONDS", 2)
    assert refused(None)[0] == "SOURCE_UNREACHABLE"

    report = lake.stream(source, kafka_config=right)
    assert (report.counts["messages"], report.counts["new"]) == (1, len(lines) - 1)
    # The checkpoint is that of the topic, whatever the login.
    cluster.send(source, [batch(node_of_line(lines[0]), node_of_line(lines[0]), lines[1:])])
    assert lake.stream(source, kafka_config=right).counts["messages"] == 1
    for path in (each for each in lake.path.rglob("*") if each.is_file()):
        assert not any(secret.encode() in path.read_bytes() for secret in PASSWORDS.values()), path


def test_brokers_that_do_not_answer_are_named(new_lake, monkeypatch):
    monkeypatch.setattr(asked, "SECONDS", 2)
    lake = new_lake()
    before = lake.rows("run", "run_id")
    with pytest.raises(FaultError) as refused:
        lake.stream("kafka://127.0.0.1:9/journals")
    assert (refused.value.code, refused.value.exit_code) == ("SOURCE_UNREACHABLE", 3)
    assert "kafka://127.0.0.1:9/journals" in refused.value.message
    assert lake.rows("run", "run_id") == before


def test_a_session_without_the_connector_is_named_with_the_package_that_it_needs(spark):
    topics.check_connector(spark, "org:kafka:1")
    thread = spark._jvm.java.lang.Thread.currentThread()
    with_jars = thread.getContextClassLoader()
    thread.setContextClassLoader(with_jars.getParent())
    try:
        with pytest.raises(FaultError) as refused:
            topics.check_connector(spark, "org:kafka:1")
    finally:
        thread.setContextClassLoader(with_jars)
    assert refused.value.code == "KAFKA_MISSING"
    assert "--packages org:kafka:1" in refused.value.next
