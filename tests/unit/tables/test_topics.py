"""How a topic is spelled where a folder may stand too."""

import pytest

from strandline.core.errors import UsageError
from strandline.tables.topics import topic_of

NAMED = {
    "kafka://localhost:9092/journals": ("localhost:9092", "journals"),
    "kafka://a.example:9092,b-2.example:19092/fleet.journals_1-x": (
        "a.example:9092,b-2.example:19092",
        "fleet.journals_1-x",
    ),
    "kafka://127.0.0.1:9/t": ("127.0.0.1:9", "t"),
    "kafka://[::1]:9092/t": ("[::1]:9092", "t"),
}
NO_TOPICS = (
    "kafka://", "kafka:///t", "kafka://a/t", "kafka://a:9092", "kafka://a:9092/", "kafka://a:9092/x/y", "kafka://a:x/t",
    "kafka://a:9092,/t", "kafka://a:9092/..", "kafka://a:9092/.", "kafka://a:9092/a b", "kafka://u:p@a:9092/t",
    "kafka://a:9092/t?x=1", "kafka://a:9092/t\n", "kafka://a:9092/" + "t" * 250,
)  # fmt: skip


@pytest.mark.parametrize("source", NAMED)
def test_a_topic_is_named_with_its_brokers_and_spelled_again_as_it_was(source):
    topic = topic_of(source)
    assert (topic.brokers, topic.name) == NAMED[source]
    assert topic.source == source


@pytest.mark.parametrize("source", ["landing", "/a/kafka:", "kafka", "KAFKA://a:1/t", "./kafka://a:1/t"])
def test_all_else_is_a_folder(source):
    assert topic_of(source) is None


@pytest.mark.parametrize("source", NO_TOPICS)
def test_what_begins_like_a_topic_and_names_none_is_refused_with_its_spelling(source):
    with pytest.raises(UsageError) as refused:
        topic_of(source)
    assert refused.value.code == "TOPIC_INVALID"
    assert source in refused.value.message
    assert "kafka://HOST:PORT/TOPIC" in refused.value.next
