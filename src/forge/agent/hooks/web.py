"""Runs an http hook: the payload as a POST; the answer counts like the output of a command, if it is JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from forge.agent.hooks.answer import Run
from forge.agent.hooks.hook import Hook
from forge.agent.hooks.output import Wrong, parse_output
from forge.agent.hooks.payload import encoded
from forge.agent.hooks.run import Firing
from forge.core.http.client import Client
from forge.foundation.errors import ModelError, UsageError

_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))")


async def run(firing: Firing, hook: Hook) -> Run:
    """The answer of the server; a status alone never blocks."""
    url, env = str(hook.fields["url"]), firing.session.parts.env
    if firing.session.parts.setting("airGap", False) is True:
        return Run(hook, None, failure=f"The setting airGap forbids hooks at an address ({url}).")
    allowed = firing.engine.means.allowed_urls
    if allowed is not None and not any(_covers(pattern, url) for pattern in allowed):
        return Run(hook, None, failure=f"The URL {url} is not among those of allowedHttpHookUrls.")
    headers = {"Content-Type": "application/json", **_headers(hook, env, firing.engine.means.variables)}
    client = Client(env)
    try:
        async with await client.send("POST", url, headers, encoded(firing.payload).rstrip(b"\n")) as answer:
            body = (await answer.read_all()).decode("utf-8", "replace")
            status = answer.status
    except (ModelError, UsageError, OSError) as error:
        return Run(hook, None, failure=str(error))
    finally:
        await client.close()
    if not 200 <= status < 300:
        return Run(hook, None, failure=f"HTTP {status} from {url}", status=status)
    return msgspec.structs.replace(read(hook, body), status=status)


def read(hook: Hook, body: str) -> Run:
    """An answer that is not from a command: JSON or nothing."""
    if not body.strip():
        return Run(hook)
    parsed = parse_output(body, hook.event)
    if parsed is None:
        return Run(hook, None, stdout=body, failure="The answer is not a JSON object.")
    if isinstance(parsed, Wrong):
        return Run(hook, None, stdout=body, failure=parsed.problem)
    return Run(hook, stdout=body, output=parsed, combined=body)


def _covers(pattern: str, url: str) -> bool:
    return re.fullmatch(re.escape(pattern).replace(r"\*", ".*"), url) is not None


def _headers(hook: Hook, env: Mapping[str, str], variables: list[str] | None) -> dict[str, str]:
    """The configured headers; only variables that were named may show up in them."""
    named = set(hook.fields.get("allowedEnvVars", ()))
    if variables is not None:
        named &= set(variables)

    def value(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        return env.get(name, "") if name in named else ""

    given: dict[str, Any] = hook.fields.get("headers", {})
    return {name: _VARIABLE.sub(value, text) for name, text in given.items()}
