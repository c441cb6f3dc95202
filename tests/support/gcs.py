"""A server of Google Cloud Storage on loopback: gcp-storage-emulator, in a process of its own.

Google's client keeps Python from running while it opens an object: a thread of the tests would not answer it.
By hand: `PYTHONPATH=tests .venv/bin/python -m support.gcs` starts one and says where it is; Ctrl-C ends it.
"""

import threading
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import ThreadingHTTPServer
from typing import ClassVar

from gcp_storage_emulator.handlers.buckets import create_bucket
from gcp_storage_emulator.server import RequestHandler
from gcp_storage_emulator.storage import Storage

from support.processes import served_by_module

BUCKET = "landing"
PRIVATE_KEY = "private-key-of-the-tests"


@dataclass(frozen=True)
class GoogleStore:
    """A running server with an empty bucket. It knows no logins, but can refuse everyone who reads."""

    url: str

    root: ClassVar[str] = f"gs://{BUCKET}"
    alias: ClassVar[str] = root
    nowhere: ClassVar[str] = "gs://no-such-bucket"
    secrets: ClassVar[tuple[str, ...]] = (PRIVATE_KEY,)

    @property
    def environment(self) -> dict[str, str]:
        """What a process that reads from it has in its environment."""
        return {"CLOUD_STORAGE_EMULATOR_ENDPOINT": self.url, "GOOGLE_APPLICATION_CREDENTIALS": PRIVATE_KEY}

    def put(self, key: str, content: bytes) -> str:
        """Write an object and return its URI. The emulator takes no empty one: that gets a byte."""
        place = f"upload/storage/v1/b/{BUCKET}/o?uploadType=media&name={_quoted(key)}"
        self._ask("POST", place, content or b"\n")
        return f"{self.root}/{key}"

    def remove(self, key: str) -> None:
        self._ask("DELETE", f"storage/v1/b/{BUCKET}/o/{_quoted(key)}")

    @contextmanager
    def closed(self) -> Iterator[None]:
        """Let nobody read until the end of the block."""
        self._ask("PUT", "closed")
        yield
        self._ask("DELETE", "closed")

    def _ask(self, method: str, path: str, content: bytes | None = None) -> None:
        request = urllib.request.Request(f"{self.url}/{path}", data=content, method=method)
        urllib.request.urlopen(request, timeout=60).close()


class _Handler(RequestHandler):
    """Answers as the emulator, or refuses. It tells nobody of the bucket: who may only list and read may not ask."""

    def __init__(self, closed: threading.Event, storage: Storage, *given) -> None:
        self._closed = closed
        super().__init__(storage, *given)

    def do_GET(self) -> None:  # noqa: N802 - the name of http.server
        if self._closed.is_set() or self.path.partition("?")[0].endswith(f"/b/{BUCKET}"):
            self.send_error(403)
        else:
            super().do_GET()

    def do_PUT(self) -> None:  # noqa: N802
        self._closed.set()
        self.send_response(204)
        self.end_headers()

    def do_DELETE(self) -> None:  # noqa: N802
        if self.path != "/closed":
            super().do_DELETE()
            return
        self._closed.clear()
        self.send_response(204)
        self.end_headers()


@contextmanager
def google_store() -> Iterator[GoogleStore]:
    """Run a server on a free port of loopback until the end of the block."""
    with served_by_module("support.gcs") as url:
        yield GoogleStore(url)


def _quoted(key: str) -> str:
    return urllib.parse.quote(key, safe="")


if __name__ == "__main__":
    storage, closed = Storage(use_memory_fs=True), threading.Event()
    create_bucket(BUCKET, storage)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, closed, storage)) as server:
        print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
        server.serve_forever()
