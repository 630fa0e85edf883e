"""The public plugins, unpacked once for all tests of a worker; nobody writes to them."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

ARCHIVE = Path(__file__).resolve().parents[3] / "shared" / "corpus" / "plugins-dev.tar.gz"


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("corpus")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(top, filter="data")
    return top
