"""Which settings of a file for Kafka's tools are used, and what is told of it."""

import pytest

from strandline.core.errors import UsageError
from strandline.session.engine import BrokersRefuseError, BrokersSilentError, ClientRefusesError
from strandline.tables import topic_brokers
from strandline.tables.topic_brokers import TopicWatch, with_security
from strandline.tables.topics import Topic

TOPIC = Topic("b:9094", "t")
GIVEN = {
    "security.protocol": "SASL_SSL", "sasl.jaas.config": "secret", "ssl.truststore.type": "PEM", "acks": "all",
    "bootstrap.servers": "elsewhere:1", "sasl": "x", "security.providers": "x", "SSL.protocol": "x",
}  # fmt: skip


class Engine:
    """A session whose JVM reads a file as `read`, and whose brokers answer with `answer`."""

    def __init__(self, read=None, answer="id"):
        self.read, self.answer, self.text, self.asked = read, answer, None, []

    def read_properties(self, text):
        self.text = text
        return self.read

    def open_brokers(self, addresses, security):
        self.asked.append((addresses, security))
        if isinstance(self.answer, ClientRefusesError):
            raise self.answer
        return self

    def topic_id(self, name):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture
def engine(monkeypatch):
    def use(made):
        monkeypatch.setattr(topic_brokers, "engine_of", lambda spark: made)
        return made

    return use


def test_settings_of_encryption_and_login_are_used_and_the_others_named(engine):
    made = engine(Engine(GIVEN))
    topic, without_effect = with_security(None, TOPIC, "caf\u00e9=1".encode("latin-1"))
    assert made.text == "caf\u00e9=1"
    assert dict(topic.options) == {
        "kafka.bootstrap.servers": "b:9094",
        "kafka.security.protocol": "SASL_SSL",
        "kafka.sasl.jaas.config": "secret",
        "kafka.ssl.truststore.type": "PEM",
    }
    assert without_effect == ("SSL.protocol", "acks", "bootstrap.servers", "sasl", "security.providers")
    assert "secret" not in repr(topic) + topic.source
    # Its login makes it no other topic.
    assert topic == TOPIC
    TopicWatch(None, topic)
    assert made.asked == [("b:9094", topic.security)]


def test_without_a_file_there_is_no_setting(engine):
    engine(Engine(GIVEN))
    assert with_security(None, TOPIC, None) == (TOPIC, ())
    assert dict(TOPIC.options) == {"kafka.bootstrap.servers": "b:9094"}


@pytest.mark.parametrize(
    ("read", "why"),
    [(None, "properties"), ({}, "security.protocol"), ({"ssl.protocol": "x"}, "security.protocol")],
)
def test_a_file_without_a_protocol_is_refused(engine, read, why):
    engine(Engine(read))
    with pytest.raises(UsageError) as refused:
        with_security(None, TOPIC, b"x")
    assert (refused.value.code, why in refused.value.message) == ("KAFKA_CONFIG_INVALID", True)


@pytest.mark.parametrize(
    ("answer", "code", "exit_code", "said"),
    [
        (BrokersSilentError(), "SOURCE_UNREACHABLE", 3, "kafka://b:9094/t"),
        (BrokersRefuseError("no such user"), "SOURCE_DENIED", 2, "no such user"),
        (ClientRefusesError("no such class"), "KAFKA_CONFIG_INVALID", 2, "no such class"),
    ],
)
def test_what_brokers_and_client_refuse_is_told_by_a_code_of_its_own(engine, answer, code, exit_code, said):
    engine(Engine(answer=answer))
    with pytest.raises(Exception) as refused:
        TopicWatch(None, TOPIC).topic_id()
    assert (refused.value.code, refused.value.exit_code) == (code, exit_code)
    assert said in refused.value.message
