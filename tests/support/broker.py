"""A real Kafka broker on this machine: one node, KRaft, loopback alone, its jars fetched once by hash.

By hand: `PYTHONPATH=tests .venv/bin/python -m support.broker` starts one and says where it is; Ctrl-C ends it.
"""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from support.certificates import write_certificates
from support.fetched_jars import fetched_jars
from support.processes import free_ports, wait_for_port
from support.until_ctrl_c import until_ctrl_c

LOCK = Path(__file__).with_name("broker.lock")
"""SHA-256 and path of each jar, as `sha256sum` writes them: org.apache.kafka:kafka_2.13 4.1.0 and what it needs."""
HEAP = "-Xms256m -Xmx512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1"
SECONDS = 60
_CLUSTER = "c3RyYW5kbGluZS10ZXN0cw"
_CONFIG = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},SECURE://127.0.0.1:{secure},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port},SECURE://127.0.0.1:{secure}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SECURE:SASL_SSL
listener.name.secure.ssl.keystore.type=PEM
listener.name.secure.ssl.keystore.location={folder}/server.pem
sasl.enabled.mechanisms=PLAIN
listener.name.secure.plain.sasl.jaas.config={login} {users};
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
log.dirs={folder}/data
num.partitions=1
auto.create.topics.enable={creates}
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
"""
LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"


@dataclass(frozen=True, slots=True)
class Running:
    """A broker that runs: `address` without encryption and login, for everything; `secure` with both, for `PASSWORDS`.

    `certificate` is the path of the certificate that signed that of the broker.
    """

    address: str
    secure: str
    certificate: Path


PASSWORDS = {"reader": "the-secret-of-reader", "other": "the-secret-of-other"}
"""The users of the broker, who may do nothing until a test gives them a right."""


def client_config(running: Running, user: str, password: str) -> bytes:
    """The file with which a client of Kafka logs in."""
    login = f'{LOGIN} username="{user}" password="{password}";'
    return (
        f"security.protocol=SASL_SSL\nsasl.mechanism = PLAIN\nsasl.jaas.config={login}\nacks=all\n"
        f"ssl.truststore.type=PEM\nssl.truststore.location={running.certificate}\nclient.id=x\n"
    ).encode()


def jars(cache: Path) -> tuple[Path, ...]:
    """Return the broker's jars in `cache`, after fetching those that lack."""
    return fetched_jars(LOCK, cache / "broker")


@contextmanager
def broker(cache: Path, folder: Path, *, creates: bool = False) -> Iterator[Running]:
    """Run a broker while the block runs. It keeps its data in `folder`, a new one.

    `creates`: a topic is made when a message is sent to it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    port, secure, controller = free_ports(3)
    certificate = write_certificates(folder)
    users = " ".join(f'user_{name}="{password}"' for name, password in PASSWORDS.items())
    config = folder / "server.properties"
    config.write_text(
        _CONFIG.format(
            port=port,
            secure=secure,
            controller=controller,
            folder=folder,
            creates=str(creates).lower(),
            login=LOGIN,
            users=users,
        )
    )
    program = Path(os.environ["JAVA_HOME"], "bin", "java") if os.environ.get("JAVA_HOME") else "java"
    java = [str(program), *HEAP.split(), "-cp", os.pathsep.join(map(str, jars(cache)))]
    quiet = {name: value for name, value in os.environ.items() if name != "JDK_JAVA_OPTIONS"}
    with (folder / "broker.log").open("ab") as log:
        told = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log, "cwd": folder, "env": quiet}
        subprocess.run(
            [*java, "kafka.tools.StorageTool", "format", "-t", _CLUSTER, "-c", str(config)],
            check=True,
            **told,
        )
        process = subprocess.Popen([*java, "kafka.Kafka", str(config)], **told)
        try:
            wait_for_port(process, port, folder / "broker.log", SECONDS)
            yield Running(f"127.0.0.1:{port}", f"127.0.0.1:{secure}", certificate)
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def main() -> None:
    """Run a broker until Ctrl-C."""
    cache = Path.home() / ".cache" / "strandline"
    with (
        tempfile.TemporaryDirectory(prefix="strandline-broker-") as folder,
        broker(cache, Path(folder), creates=True) as running,
    ):
        until_ctrl_c(f"a broker runs at {running.address}; follow kafka://{running.address}/TOPIC")


if __name__ == "__main__":
    main()
