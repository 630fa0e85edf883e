"""The shield around every test, from tests/conftest.py."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest


@pytest.mark.parametrize("host", ["192.0.2.1", "example.com", "2001:db8::1"])
def test_no_test_can_reach_the_network(host: str) -> None:
    with pytest.raises(PermissionError, match="only talk to loopback"):
        socket.create_connection((host, 80), timeout=1)


def test_loopback_can_be_reached() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()):
        connection, _ = server.accept()
        connection.close()


def test_every_test_has_an_empty_home(home: Path) -> None:
    assert (os.environ["HOME"], list(home.iterdir())) == (str(home), [])
    assert [n for n in os.environ if n.startswith(("ANTHROPIC_", "OPENAI_"))] == []
