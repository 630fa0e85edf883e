"""The key for a model server: a value from the environment, or what the user's key command prints."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from forge.foundation.errors import ModelError

_LIFETIME_SECONDS = 300.0
_PATIENCE_SECONDS = 60.0


class Credential:
    """A key and how to get it again. Never shown: neither in `repr` nor in messages."""

    def __init__(self, value: str = "", command: str = "", env: Mapping[str, str] | None = None) -> None:
        self._value = value.strip()
        self._command = command
        self._env = dict(env or {})
        self._expires = 0.0

    @property
    def renewable(self) -> bool:
        """Whether asking again may give another key."""
        return bool(self._command)

    async def get(self) -> str:
        """The key; runs the key command at most every five minutes."""
        if not self._command:
            return self._value
        now = asyncio.get_running_loop().time()
        if now >= self._expires:
            self._value = await _run(self._command, self._env)
            self._expires = now + _lifetime(self._env)
        return self._value

    def forget(self) -> None:
        """The key was refused: the next `get` runs the command again."""
        self._expires = 0.0

    def hide(self, text: bytes) -> bytes:
        """The text without the key, in case a server repeats it."""
        return text.replace(self._value.encode(), b"[key]") if len(self._value) > 5 else text


def _lifetime(env: Mapping[str, str]) -> float:
    wanted = env.get("CLAUDE_CODE_API_KEY_HELPER_TTL_MS", "")
    return int(wanted) / 1000 if wanted.isdecimal() else _LIFETIME_SECONDS


async def _run(command: str, env: dict[str, str]) -> str:
    process = await asyncio.create_subprocess_shell(
        command,
        env=env,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            out, err = await process.communicate()
    except TimeoutError:
        raise _failed(f"did not finish within {_PATIENCE_SECONDS:g} seconds") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        said = err.decode("utf-8", "replace").strip().splitlines()
        raise _failed(f"failed with exit code {process.returncode}{': ' + said[-1][:200] if said else ''}")
    key = out.decode("utf-8", "replace").strip()
    if not key or "\n" in key:
        raise _failed("must print exactly one line, the key")
    return key


def _failed(how: str) -> ModelError:
    return ModelError(
        f"The apiKeyHelper command {how}.",
        kind="authentication_failed",
        hint="Run the command of the setting `apiKeyHelper` in a shell to see what it prints.",
    )
