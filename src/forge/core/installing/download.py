"""Downloads one file: redirects, a size limit and a time limit, never from https back to http."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from urllib.parse import urljoin

from forge.core.http.client import Client, Timeouts
from forge.core.plugins.context import PluginFailure
from forge.core.plugins.source import without_login
from forge.foundation.errors import ModelError
from forge.version import VERSION

SECONDS = 120.0
MOST_BYTES = 128 << 20
_REDIRECTS = (301, 302, 303, 307, 308)
_MOST_REDIRECTS = 5


def download(
    url: str, env: Mapping[str, str], *, headers: Mapping[str, str] | None = None, most: int = MOST_BYTES
) -> bytes:
    """The body behind an http(s) address; PluginFailure when it cannot be had."""
    if not url.startswith(("https://", "http://")):
        raise PluginFailure(f"{without_login(url)} is not an http or https address.", "error_policy")
    try:
        return asyncio.run(_download(url, env, dict(headers or {}), most))
    except TimeoutError:
        raise PluginFailure(
            f"{without_login(url)} did not answer within {SECONDS:g} s.", "error_network"
        ) from None
    except ModelError as error:
        raise PluginFailure(
            without_login(error.message.removeprefix("API Error: ")), "error_network"
        ) from None


async def _download(url: str, env: Mapping[str, str], headers: dict[str, str], most: int) -> bytes:
    client = Client(env, Timeouts(connect=15.0, idle=30.0))
    sent = {"user-agent": f"forge/{VERSION}", "accept": "*/*", **headers}
    try:
        async with asyncio.timeout(SECONDS):
            for _ in range(_MOST_REDIRECTS + 1):
                async with await client.send("GET", url, sent) as answer:
                    target = answer.headers.get("location", "") if answer.status in _REDIRECTS else ""
                    if not target:
                        body = await answer.read_all(most + 1)
                        return _checked(url, answer.status, body, most)
                url, sent = _follow(url, target, sent, headers)
    finally:
        await client.close()
    raise PluginFailure(f"{without_login(url)} redirects more than {_MOST_REDIRECTS} times.", "error_network")


def _follow(
    url: str, target: str, sent: dict[str, str], own: Mapping[str, str]
) -> tuple[str, dict[str, str]]:
    moved = urljoin(url, target)
    if not moved.startswith(("https://", "http://")) or (
        url.startswith("https://") and not moved.startswith("https://")
    ):
        raise PluginFailure(
            f"{without_login(url)} redirects to {moved}, which is not safe to follow.", "error_policy"
        )
    if moved.split("/")[2] != url.split("/")[2]:
        # What a catalogue's owner gave for one host is not for another.
        sent = {key: value for key, value in sent.items() if key not in own}
    return moved, sent


def _checked(url: str, status: int, body: bytes, most: int) -> bytes:
    if status != 200:
        code = "error_not_found" if status == 404 else "error_network"
        raise PluginFailure(f"{without_login(url)} answered with status {status}.", code)
    if len(body) > most:
        raise PluginFailure(f"{without_login(url)} is larger than {most >> 20} MB.", "error_policy")
    return body
