"""The jars that Spark does not ship, with their SHA-256, for the versions that pyproject.toml pins."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Jar:
    """One file of a Maven repository. `sha256` in lower-case hex."""

    group: str
    artifact: str
    version: str
    sha256: str

    @property
    def name(self) -> str:
        """Name of the file in the cache; includes the group, so that names are unique."""
        return f"{self.group}_{self.artifact}-{self.version}.jar"

    @property
    def path(self) -> str:
        """Path of the file in a repository."""
        folder = self.group.replace(".", "/")
        return f"{folder}/{self.artifact}/{self.version}/{self.artifact}-{self.version}.jar"


def _jar(coordinate: str, sha256: str) -> Jar:
    group, artifact, version = coordinate.split(":")
    return Jar(group, artifact, version, sha256)


PINS: Final[Mapping[str, tuple[Jar, ...]]] = {
    "io.delta:delta-spark_4.2_2.13:4.4.0": (
        _jar(
            "io.delta:delta-spark_4.2_2.13:4.4.0",
            "27d4fd8b1f879535c573ed1c718177d6a27f24d3e626ba02e216369725721ead",
        ),
        _jar(
            "io.delta:delta-storage:4.4.0",
            "c46735481fa8e326b0957be02b4420cbcab4b325bb08009b7f2045a95133f1cc",
        ),
        _jar(
            "io.delta:delta-kernel-api:4.4.0",
            "ee9b5a14ac3b7efdff4d61a58478fe8eb0e5a3fbca43889dca7290795fe79a11",
        ),
        _jar(
            "io.delta:delta-kernel-defaults:4.4.0",
            "225c975199e4718b38ee5b7e6da7f19e9585024262b2cec2656b32151a856b0b",
        ),
        _jar(
            "io.delta:delta-kernel-unitycatalog:4.4.0",
            "cea22dfb4ac562b3cd27bf652697750e8336009d73fb06631363aaaad5345ffa",
        ),
        _jar(
            "io.unitycatalog:unitycatalog-client:0.6.0",
            "48257499a86b801a3e2372cec55ac226ca1c1c7eabe5c118e7302f29a1fdbc19",
        ),
        _jar(
            "io.unitycatalog:unitycatalog-hadoop:0.6.0",
            "c47b63c961c87102b9e1d63809a0915ba4c86b7652f57c8d39ca3a05b441a150",
        ),
    ),
    "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0": (
        _jar(
            "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",
            "64539c45e5d39f7ddb747312c239f38f5208d08c1a0ddf7d70beb2fbd9373705",
        ),
        _jar(
            "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.2.0",
            "641c7947afc8aa1189e433b7c2d305293993c8691bc1c2062d6d4f513b12518c",
        ),
        _jar(
            "org.apache.kafka:kafka-clients:3.9.2",
            "014b4ef36884478a932641818b080c36a8f8e2e92dc771e800c9d2694f4f83d8",
        ),
        _jar(
            "org.apache.commons:commons-pool2:2.13.1",
            "f77a5060d6936a9144023584232f9de3f2248f1abfe156e9d31795f18770674f",
        ),
    ),
}
"""By coordinate: the jar and its dependencies that Spark does not ship."""
