from __future__ import annotations

from collections.abc import Iterator

import pytest

from control_host import Host


@pytest.fixture
def started(home: object) -> Iterator[list[Host]]:
    """Hosts put here are ended after the test, whatever they do."""
    hosts: list[Host] = []
    yield hosts
    for host in hosts:
        host.close()
