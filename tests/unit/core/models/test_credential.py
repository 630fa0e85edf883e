"""Keys from a command."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from fakemodel import serve
from fakemodel.asking import ask_for, deltas_of
from forge.core.models.catalog import open_model
from forge.core.models.credential import Credential
from forge.foundation.errors import ModelError

PATH = {"PATH": "/usr/bin:/bin"}


def counting(tmp_path: Path) -> str:
    """A command that prints key-1, key-2 … each time it runs."""
    count = tmp_path / "count"
    return f"echo x >> {count}; echo key-$(grep -c x {count})"


async def twice(credential: Credential, *, refused: bool) -> list[str]:
    first = await credential.get()
    if refused:
        credential.forget()
    return [first, await credential.get()]


@pytest.mark.parametrize(
    ("refused", "ttl", "keys"),
    [(False, "", ["key-1", "key-1"]), (True, "", ["key-1", "key-2"]), (False, "0", ["key-1", "key-2"])],
)
def test_a_key_is_kept_until_it_is_old_or_refused(
    tmp_path: Path, refused: bool, ttl: str, keys: list[str]
) -> None:
    env = {**PATH, "CLAUDE_CODE_API_KEY_HELPER_TTL_MS": ttl}
    credential = Credential(command=counting(tmp_path), env=env)
    assert asyncio.run(twice(credential, refused=refused)) == keys


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("echo oops >&2; exit 3", "The apiKeyHelper command failed with exit code 3: oops."),
        ("true", "The apiKeyHelper command must print exactly one line, the key."),
        ("echo a; echo b", "The apiKeyHelper command must print exactly one line, the key."),
    ],
)
def test_a_failing_command_is_a_clear_error(command: str, message: str) -> None:
    with pytest.raises(ModelError) as caught:
        asyncio.run(Credential(command=command, env=PATH).get())
    assert (caught.value.message, caught.value.kind) == (message, "authentication_failed")


def test_a_plain_key_is_given_without_surrounding_space() -> None:
    assert asyncio.run(Credential(" k \n").get()) == "k"


def test_a_refused_key_is_fetched_anew_once(tmp_path: Path) -> None:
    with serve([{"errors": [{"status": 401}], "blocks": [{"text": "ok"}]}]) as server:
        env = {**PATH, "ANTHROPIC_BASE_URL": server.url}
        model = open_model("opus", env, {"apiKeyHelper": counting(tmp_path)}.get)
        asyncio.run(deltas_of(model, ask_for()))
        sent = [(r.headers["x-api-key"], r.headers["authorization"]) for r in server.requests]
    assert sent == [("key-1", "Bearer key-1"), ("key-2", "Bearer key-2")]
