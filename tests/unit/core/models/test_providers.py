"""Providers of the settings."""

from __future__ import annotations

from typing import Any

import pytest

from forge.core.http.url import split_url
from forge.core.model import Price
from forge.core.models.endpoint import Address
from forge.core.models.errors import Peer
from forge.core.models.providers import BUILT_IN, read_providers


def read(rows: Any) -> tuple[dict[str, Any], list[str]]:
    table, problems = read_providers({"providers": rows}.get)
    return table, [f"{p.key}: {p.message}" for p in problems]


def test_a_new_row_needs_only_protocol_and_address() -> None:
    table, problems = read({"gw": {"protocol": "anthropic", "baseUrl": "https://gw.example"}})
    row = table["gw"]
    assert (row.protocol, row.base_url, row.auth, row.key_env, problems) == (
        "anthropic",
        "https://gw.example",
        "x-api-key",
        "",
        [],
    )


def test_a_row_on_top_of_a_known_provider_changes_only_what_it_says() -> None:
    table, problems = read({"openai": {"protocol": "openai_chat", "headers": {"x-org": "a"}}})
    row, base = table["openai"], BUILT_IN["openai"]
    assert (row.protocol, row.headers, problems) == ("openai_chat", {"x-org": "a"}, [])
    assert (row.base_url, row.key_env, row.url_env) == (base.base_url, base.key_env, base.url_env)


def test_models_carry_limits_and_prices() -> None:
    row = {"contextWindow": 5, "maxOutput": 2, "price": {"input": 1.5, "cacheRead": 0.1}, "images": False}
    table, problems = read({"ollama": {"models": {"tiny": row}}})
    card = table["ollama"].models["tiny"]
    assert (card.context_window, card.max_output, card.images, card.price, problems) == (
        5,
        2,
        False,
        Price(input=1.5, cache_read=0.1),
        [],
    )


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        (3, "providers: expected an object of provider rows"),
        ({"a": {"protocol": "anthropic"}}, "providers.a: a new provider needs `protocol` and `baseUrl`"),
        (
            {"a": {"protocol": "soap", "baseUrl": "https://x"}},
            "providers.a: protocol 'soap' is unknown, "
            "expected one of anthropic, openai_chat, openai_responses",
        ),
        (
            {"a": {"protocol": "anthropic", "baseUrl": "x.com"}},
            "providers.a: baseUrl must begin with http:// or https://",
        ),
        ({"a/b": {}}, "providers.a/b: a provider's name may not be empty or contain a slash"),
        ({"scripted": {}}, "providers.scripted: this name is taken by the scripted model"),
        (
            {"ollama": {"models": {"x": {"contextWindow": "big"}}}},
            "providers.ollama: Expected `int`, got `str` - at `$.models[...].contextWindow`",
        ),
        (
            {"ollama": {"quirks": ["odd"]}},
            "providers.ollama: quirk 'odd' is unknown, expected some of max_tokens, send_limit, "
            "no_stream_options, short_ids, echo_reasoning, no_encrypted, no_betas",
        ),
        (
            {"ollama": {"auth": "magic"}},
            "providers.ollama: Invalid enum value 'magic' - at `$.auth`",
        ),
        ({"ollama": {"baseurl": "x"}}, "providers.ollama: Object contains unknown field `baseurl`"),
    ],
)
def test_rows_that_cannot_be_used_are_reported_and_left_out(rows: Any, problem: str) -> None:
    table, problems = read(rows)
    assert (problems, table.keys() - BUILT_IN.keys()) == ([problem], set())


def test_nothing_secret_is_shown_of_a_provider() -> None:
    row = {"protocol": "anthropic", "baseUrl": "https://gw", "headers": {"authorization": "Bearer secret"}}
    table, _ = read({"gw": row})
    assert repr(table["gw"]) == "Provider(gw, anthropic)"
    address = Address("https://u:secret@h", "bearer", Peer("m", "h"), {"x": "secret"})
    assert repr(address) == "Address(h, bearer)"
    assert "secret" not in repr(split_url("http://u:secret@h/x"))


def test_good_rows_survive_bad_neighbours() -> None:
    table, problems = read({"bad": 1, "good": {"protocol": "openai_chat", "baseUrl": "http://h/v1"}})
    assert ("good" in table, len(problems)) == (True, 1)


@pytest.mark.parametrize(
    ("name", "row", "searches"),
    [
        ("anthropic", {"headers": {"a": "b"}}, True),
        ("anthropic", {"baseUrl": "https://gateway.example"}, False),
        ("anthropic", {"baseUrl": "https://gateway.example", "webSearch": True}, True),
        ("openai", {"protocol": "openai_chat"}, False),
        ("openai", {"webSearch": False}, False),
        ("mine", {"protocol": "openai_responses", "baseUrl": "https://mine.example"}, False),
        (
            "mine",
            {"protocol": "openai_responses", "baseUrl": "https://mine.example", "webSearch": True},
            True,
        ),
    ],
)
def test_only_who_is_known_to_search_the_web_is_asked_to(
    name: str, row: dict[str, Any], searches: bool
) -> None:
    table, problems = read({name: row})
    assert (table[name].web_search, problems) == (searches, [])


def test_chat_completions_cannot_search_the_web() -> None:
    _, problems = read({"groq": {"webSearch": True}})
    assert problems == ["providers.groq: webSearch needs the protocol anthropic or openai_responses"]
