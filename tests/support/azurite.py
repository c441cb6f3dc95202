"""A server of Azure Blob Storage on loopback: Azurite, in node. It keeps accounts without hierarchical names."""

import base64
import hashlib
import hmac
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import formatdate
from typing import ClassVar

from support.processes import OF_THE_TESTS, served_by

ACCOUNT, CONTAINER = "devstoreaccount1", "landing"
# Azurite has no other: the key of its account is published.
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
OTHER_KEY = base64.b64encode(b"another key of the tests").decode()
NO_HEADERS: Mapping[str, str] = {}
AZURITE = OF_THE_TESTS / "azure" / "node_modules" / "azurite" / "dist" / "src" / "blob" / "main.js"


@dataclass(frozen=True)
class AzureStore:
    """A running server with an empty container."""

    url: str

    root: ClassVar[str] = f"abfss://{CONTAINER}@{ACCOUNT}.dfs.core.windows.net"
    alias: ClassVar[str] = f"abfs://{CONTAINER}@{ACCOUNT}.dfs.core.windows.net"
    nowhere: ClassVar[str] = f"abfss://no-such-box@{ACCOUNT}.dfs.core.windows.net"
    secrets: ClassVar[tuple[str, ...]] = (KEY, OTHER_KEY)

    @property
    def environment(self) -> dict[str, str]:
        """What a process that reads from it has in its environment."""
        return {"AZURE_STORAGE_SERVICE_ENDPOINT": f"{self.url}/{ACCOUNT}", "AZURE_STORAGE_ACCOUNT_KEY": KEY}

    def make_container(self) -> None:
        self._ask("PUT", CONTAINER, query="restype=container")

    def put(self, key: str, content: bytes) -> str:
        """Write an object and return its URI."""
        self._ask("PUT", f"{CONTAINER}/{key}", content)
        return f"{self.root}/{key}"

    def mark_folder(self, key: str) -> None:
        """Write the empty object that stands for a folder, as Hadoop does."""
        self._ask("PUT", f"{CONTAINER}/{key}", more={"x-ms-meta-hdi_isfolder": "true"})

    def remove(self, key: str) -> None:
        self._ask("DELETE", f"{CONTAINER}/{key}")

    def _ask(
        self,
        method: str,
        path: str,
        content: bytes = b"",
        query: str = "",
        more: Mapping[str, str] = NO_HEADERS,
    ) -> None:
        """Send a request, signed with the shared key."""
        headers = {
            "x-ms-blob-type": "BlockBlob", "x-ms-date": formatdate(usegmt=True), "x-ms-version": "2021-12-02",
            **more,
        }  # fmt: skip
        place = f"/{ACCOUNT}/{urllib.parse.quote(path)}"
        kind = "application/octet-stream"
        signed = "\n".join([
            method, "", "", str(len(content) or ""), "", kind, *([""] * 6),
            *(f"{name}:{value}" for name, value in sorted(headers.items())),
            f"/{ACCOUNT}{place}" + (f"\n{query.replace('=', ':')}" if query else ""),
        ])  # fmt: skip
        digest = hmac.digest(base64.b64decode(KEY), signed.encode(), hashlib.sha256)
        headers |= {
            "Authorization": f"SharedKey {ACCOUNT}:{base64.b64encode(digest).decode()}", "Content-Type": kind,
        }  # fmt: skip
        url = f"{self.url}{place}" + (f"?{query}" if query else "")
        request = urllib.request.Request(url, data=content, method=method, headers=headers)
        urllib.request.urlopen(request, timeout=60).close()


@contextmanager
def azure_store() -> Iterator[AzureStore]:
    """Run a server on a free port of loopback until the end of the block."""
    options = ("--blobHost", "127.0.0.1", "--blobPort", "0", "--inMemoryPersistence", "--disableTelemetry")
    # Arrow's client asks in a newer version of the interface than it knows.
    with served_by("node", str(AZURITE), *options, "--skipApiVersionCheck", "--silent") as url:
        store = AzureStore(url)
        store.make_container()
        yield store
