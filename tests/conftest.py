"""Every test runs in its own home directory, without the network, in an order nobody can rely on."""

from __future__ import annotations

import gc
import itertools
import os
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

# Comparison with the real reference CLI is `make conformance`, never part of the suite.
collect_ignore = [] if os.environ.get("REFERENCE_CLI") else ["conformance"]

_SHIELDED = ("ANTHROPIC_", "OPENAI_", "CLAUDE", "FORGE_", "OLLAMA_", "XDG_", "GIT_", "BASH_", "MCP_")
_LOOPBACK = ("127.", "::1", "::ffff:127.", "localhost")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seed", type=int, default=None, help="repeat the test order of an earlier run")


def pytest_configure(config: pytest.Config) -> None:
    gc.disable()  # thousands of tests are made now, and none of them is garbage
    if config.option.seed is None:
        given = getattr(config, "workerinput", {}).get("seed")
        config.option.seed = random.SystemRandom().randrange(1_000_000) if given is None else given


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """All workers of pytest-xdist must agree on the order."""
    node.workerinput["seed"] = node.config.option.seed


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    random.Random(config.option.seed).shuffle(items)


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if terminalreporter.stats.get("failed") or terminalreporter.stats.get("error"):
        terminalreporter.write_line(f"test order: repeat it with --seed {config.option.seed}")


def _only_loopback(event: str, args: tuple[object, ...]) -> None:
    """Refuses connections and name look-ups that would leave the machine."""
    if event in ("socket.connect", "socket.sendto"):
        address = args[1]
        host = address[0] if isinstance(address, tuple) else "localhost"
    elif event == "socket.getaddrinfo":
        host = args[0] or "localhost"
    else:
        return
    name = host.decode() if isinstance(host, bytes) else str(host)
    if not name.startswith(_LOOPBACK):
        raise PermissionError(f"tests may only talk to loopback, not to {name}")


sys.addaudithook(_only_loopback)


@pytest.fixture(scope="session")
def _homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Names for home directories; numbering them here is much cheaper than pytest's scan per test."""
    parent = tmp_path_factory.mktemp("homes")
    return (parent / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def home(_homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh home directory; nothing of the user's configuration or keys can be seen."""
    directory = next(_homes)
    directory.mkdir()
    for name in list(os.environ):
        if name.startswith(_SHIELDED):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(directory))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(directory / ".claude"))
    monkeypatch.setenv("FORGE_HOME", str(directory / ".forge"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return directory
