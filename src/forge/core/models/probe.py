"""Asks a provider which models it has, for listings and for finding out whether it is there at all."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import msgspec

from forge.core.models.catalog import open_endpoint
from forge.core.models.providers import Provider, Setting
from forge.foundation.errors import ModelError


class Probe(msgspec.Struct, frozen=True):
    """The outcome: `problem` says in one sentence why the models could not be listed."""

    reachable: bool
    models: list[str]
    problem: str = ""


async def probe(provider: Provider, env: Mapping[str, str], setting: Setting, seconds: float = 3.0) -> Probe:
    """Lists the models of a provider; never raises for a server that is down."""
    try:
        endpoint = open_endpoint(provider, env, setting)
    except ModelError as error:
        return Probe(reachable=False, models=[], problem=error.message)
    path, headers = "/models", {}
    if provider.protocol == "anthropic":
        path, headers = "/v1/models?limit=1000", {"anthropic-version": "2023-06-01"}
    try:
        async with asyncio.timeout(seconds):
            return Probe(reachable=True, models=_ids(await endpoint.get(path, headers)))
    except TimeoutError:
        return Probe(reachable=False, models=[], problem=f"No answer within {seconds:g} seconds.")
    except ModelError as error:
        return Probe(reachable=error.kind != "connection", models=[], problem=error.message)
    finally:
        await endpoint.close()


def _ids(answer: Any) -> list[str]:
    rows = answer.get("data") or answer.get("models") if isinstance(answer, dict) else answer
    found = (row.get("id") or row.get("name") for row in rows or () if isinstance(row, dict))
    return sorted(str(each) for each in found if each)
