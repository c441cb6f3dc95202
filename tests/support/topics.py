"""Topics of a broker: made, filled, cut off and deleted through the client that Spark brings along."""

from collections.abc import Iterable

PARTS = 3
"""Partitions of each topic."""

ADMIN = "org.apache.kafka.clients.admin"


class Topics:
    """The topics of a broker, as somebody who makes them and sends messages."""

    def __init__(self, spark, address: str) -> None:
        self._spark = spark
        self.address = address
        self._jvm = spark.sparkContext._jvm
        told = self._jvm.java.util.Properties()
        told.put("bootstrap.servers", address)
        self._admin = self._jvm.org.apache.kafka.clients.admin.AdminClient.create(told)

    def topic(self, name: str) -> str:
        new = self._jvm.org.apache.kafka.clients.admin.NewTopic(name, PARTS, 1)
        self._admin.createTopics([new]).all().get()
        return f"kafka://{self.address}/{name}"

    def delete(self, name: str) -> None:
        self._admin.deleteTopics([name]).all().get()

    def send(self, source: str, values: Iterable[bytes | None]) -> None:
        rows = [(number % PARTS, b"key", value) for number, value in enumerate(values)]
        frame = self._spark.createDataFrame(rows, "partition INT, key BINARY, value BINARY").coalesce(1)
        writer = frame.write.format("kafka").option("kafka.bootstrap.servers", self.address)
        writer.option("topic", source.rpartition("/")[2]).save()

    def remove(self, name: str, before: int) -> None:
        """Remove messages from each partition, as retention does."""
        jvm, gateway = self._jvm, self._spark.sparkContext._gateway
        kafka = jvm.org.apache.kafka
        # The bridge does not tell the static method from the other of that name.
        known_to = self._admin.getClass().getClassLoader()
        records = jvm.java.lang.Class.forName(f"{ADMIN}.RecordsToDelete", True, known_to)
        types, given = gateway.new_array(jvm.java.lang.Class, 1), gateway.new_array(jvm.java.lang.Object, 1)
        types[0], given[0] = jvm.java.lang.Long.TYPE, jvm.java.lang.Long.valueOf(before)
        bound = records.getMethod("beforeOffset", types).invoke(None, given)
        removed = jvm.java.util.HashMap()
        for part in range(PARTS):
            removed.put(kafka.common.TopicPartition(name, part), bound)
        self._admin.deleteRecords(removed).all().get()

    def allow(self, name: str, user: str, *operations: str) -> None:
        """Give a user rights to a topic: names of Kafka's operations, such as READ."""
        acl, resource = self._jvm.org.apache.kafka.common.acl, self._jvm.org.apache.kafka.common.resource
        literal = resource.PatternType.LITERAL
        topic = resource.ResourcePattern(resource.ResourceType.TOPIC, name, literal)
        rights = self._jvm.java.util.ArrayList()
        for operation in operations:
            entry = acl.AccessControlEntry(
                f"User:{user}", "*", getattr(acl.AclOperation, operation), acl.AclPermissionType.ALLOW
            )
            rights.add(acl.AclBinding(topic, entry))
        self._admin.createAcls(rights).all().get()

    def close(self) -> None:
        self._admin.close()
