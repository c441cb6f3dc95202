"""The end of a session while its JVM sends something."""

import socket
import threading
from types import SimpleNamespace

import pytest
from pyspark.accumulators import _start_update_server

from strandline.session.classic.ending import end_context


@pytest.mark.large
def test_an_update_that_the_end_of_the_jvm_cuts_prints_nothing(capfd):
    server = _start_update_server("secret", is_unix_domain_sock=False)
    client = socket.create_connection(server.server_address)
    # The first part of what is expected first, the token.
    client.sendall(b"sec")
    served = threading.Event()
    close = server.shutdown_request
    server.shutdown_request = lambda request: (close(request), served.set())
    context = SimpleNamespace(
        _gateway=SimpleNamespace(proc=SimpleNamespace(kill=client.close)), _accumulatorServer=server
    )
    end_context(context)
    # The server closes a request after it has told about its error.
    assert served.wait(10)
    server.shutdown()
    assert capfd.readouterr() == ("", "")
