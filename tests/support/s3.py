"""An S3 server on loopback: moto's, in a thread of the tests or a process of its own.

By hand: `PYTHONPATH=tests .venv/bin/python -m support.s3` starts one and says where it is; Ctrl-C ends it.
"""

import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar

import boto3
from moto.server import ThreadedMotoServer

from support.processes import served_by_module

BUCKET = "landing"
KEY_ID, SECRET = "AKIATESTKEYOFTESTS00", "secret-of-the-tests"


@dataclass(frozen=True)
class Store:
    """A running server with an empty bucket."""

    url: str

    root: ClassVar[str] = f"s3://{BUCKET}"
    alias: ClassVar[str] = f"s3a://{BUCKET}"
    nowhere: ClassVar[str] = "s3://no-such-bucket"
    secrets: ClassVar[tuple[str, ...]] = (KEY_ID, SECRET)

    @property
    def environment(self) -> dict[str, str]:
        """What a process that reads from it has in its environment."""
        return {
            "AWS_ENDPOINT_URL": self.url, "AWS_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_ACCESS_KEY_ID": KEY_ID, "AWS_SECRET_ACCESS_KEY": SECRET,
        }  # fmt: skip

    def make_bucket(self, bucket: str = BUCKET) -> None:
        self._client().create_bucket(Bucket=bucket)

    def remove_bucket(self, bucket: str) -> None:
        self._client().delete_bucket(Bucket=bucket)

    def put(self, key: str, content: bytes, bucket: str = BUCKET) -> str:
        """Write an object and return its URI."""
        self._client().put_object(Bucket=bucket, Key=key, Body=content)
        return f"s3://{bucket}/{key}"

    def remove(self, key: str, bucket: str = BUCKET) -> None:
        self._client().delete_object(Bucket=bucket, Key=key)

    def _client(self):
        return boto3.client(
            "s3", endpoint_url=self.url, region_name="us-east-1",
            aws_access_key_id=KEY_ID, aws_secret_access_key=SECRET,
        )  # fmt: skip


@contextmanager
def store() -> Iterator[Store]:
    """Run a server on a free port of loopback until the end of the block."""
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        started = Store(f"http://{host}:{port}")
        # All servers of a process share what they hold.
        urllib.request.urlopen(f"{started.url}/moto-api/reset", data=b"", timeout=60).close()
        started.make_bucket()
        yield started
    finally:
        # It looks every half second whether it shall end, and nobody waits for that.
        threading.Thread(target=server.stop, daemon=True).start()


@contextmanager
def store_of_its_own() -> Iterator[Store]:
    """Run a server as `store` does, in another process: for clients that keep Python from running while they wait."""
    with served_by_module("support.s3") as url:
        yield Store(url)


if __name__ == "__main__":
    with store() as running:
        print(running.url, flush=True)
        time.sleep(365 * 24 * 3600)
