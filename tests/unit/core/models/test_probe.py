"""Asking providers what they have."""

from __future__ import annotations

import asyncio

import pytest

from fakemodel import serve
from fakemodel.asking import no_setting
from forge.core.models.probe import Probe, probe
from forge.core.models.providers import BUILT_IN


@pytest.mark.parametrize(
    ("provider", "variable", "path"),
    [
        ("anthropic", "ANTHROPIC_BASE_URL", "/v1/models?limit=1000"),
        ("ollama", "OLLAMA_HOST", "/v1/models"),
        ("openai", "OPENAI_BASE_URL", "/v1/models"),
    ],
)
def test_models_are_listed(provider: str, variable: str, path: str) -> None:
    with serve([], models=("b", "a")) as server:
        found = asyncio.run(probe(BUILT_IN[provider], {variable: server.url}, no_setting))
        assert server.requests[0].path == path
    assert found == Probe(reachable=True, models=["a", "b"])


def test_a_server_that_is_down_is_a_value() -> None:
    with serve([]) as server:
        url = server.url
    found = asyncio.run(probe(BUILT_IN["ollama"], {"OLLAMA_HOST": url}, no_setting))
    assert (found.reachable, found.models, "Connection refused" in found.problem) == (False, [], True)


def test_a_missing_key_is_a_value() -> None:
    found = asyncio.run(probe(BUILT_IN["groq"], {}, no_setting))
    assert found == Probe(reachable=False, models=[], problem="No API key for groq: GROQ_API_KEY is not set.")
