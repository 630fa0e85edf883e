"""From names to models."""

from __future__ import annotations

from typing import Any

import pytest

from fakemodel import serve
from fakemodel.asking import no_setting, reply
from forge.core.message import Usage
from forge.core.model import Price
from forge.core.models.cards import CLAUDE, OTHERS
from forge.core.models.catalog import known_models, open_model, resolve
from forge.foundation.errors import ConfigError, ModelError, UsageError

KEY = {"ANTHROPIC_API_KEY": "k"}
OWN = {
    "providers": {
        "house": {
            "protocol": "openai_chat",
            "baseUrl": "http://127.0.0.1:9/v1",
            "models": {"little": {"contextWindow": 9_000, "maxOutput": 1_000, "label": "Little"}},
        }
    }
}


def found(
    name: str | None, env: dict[str, str], settings: dict[str, Any] | None = None
) -> tuple[str, str, str]:
    choice = resolve(name, env, (settings or {}).get)
    return choice.card.ref, choice.card.protocol, choice.key_source


@pytest.mark.parametrize(
    ("name", "env", "settings", "ref"),
    [
        (None, KEY, {}, "anthropic/claude-opus-5-5"),
        ("default", KEY, {}, "anthropic/claude-opus-5-5"),
        ("opus", KEY, {}, "anthropic/claude-opus-5-5"),
        ("Sonnet", KEY, {}, "anthropic/claude-sonnet-5-5"),
        ("haiku", KEY, {}, "anthropic/claude-haiku-5-5"),
        ("fable", KEY, {}, "anthropic/claude-fable-5-2"),
        ("sonnet[1m]", KEY, {}, "anthropic/claude-sonnet-5-5"),
        ("anthropic/claude-sonnet-4-5", KEY, {}, "anthropic/claude-sonnet-4-5"),
        ("claude-sonnet-4-5-20250929", KEY, {}, "anthropic/claude-sonnet-4-5-20250929"),
        ("brand-new", KEY, {}, "anthropic/brand-new"),
        ("brand-new", {"ANTHROPIC_BASE_URL": "http://gw:1"}, {}, "anthropic/brand-new"),
        ("meta/llama", {"ANTHROPIC_BASE_URL": "http://gw:1"}, {}, "anthropic/meta/llama"),
        (None, {**KEY, "ANTHROPIC_MODEL": "haiku"}, {"model": "opus"}, "anthropic/claude-haiku-5-5"),
        (None, KEY, {"model": "sonnet"}, "anthropic/claude-sonnet-5-5"),
        ("fable", {**KEY, "ANTHROPIC_MODEL": "haiku"}, {"model": "opus"}, "anthropic/claude-fable-5-2"),
        ("opus", {**KEY, "ANTHROPIC_DEFAULT_OPUS_MODEL": "my-opus"}, {}, "anthropic/my-opus"),
        ("default", {**KEY, "ANTHROPIC_DEFAULT_OPUS_MODEL": "my-opus"}, {}, "anthropic/my-opus"),
        ("haiku", {"ANTHROPIC_DEFAULT_HAIKU_MODEL": "ollama/tiny"}, {}, "ollama/tiny"),
        ("opus", KEY, {"modelOverrides": {"claude-opus-5-5": "deploy-7"}}, "anthropic/deploy-7"),
        ("ollama/qwen3:8b", {}, {}, "ollama/qwen3:8b"),
        ("openrouter/meta/llama", {"OPENROUTER_API_KEY": "k"}, {}, "openrouter/meta/llama"),
        ("house/little", {}, OWN, "house/little"),
        ("house/unlisted", {}, OWN, "house/unlisted"),
        ("little", {}, OWN, "house/little"),
        ("scripted/some/file.json", {}, {}, "scripted/some/file.json"),
    ],
)
def test_names_lead_to_models(
    name: str | None, env: dict[str, str], settings: dict[str, Any], ref: str
) -> None:
    assert found(name, env, settings)[0] == ref


@pytest.mark.parametrize(
    ("name", "env", "source"),
    [
        ("opus", KEY, "ANTHROPIC_API_KEY"),
        ("opus", {"ANTHROPIC_AUTH_TOKEN": "t"}, "ANTHROPIC_AUTH_TOKEN"),
        ("opus", {"ANTHROPIC_BASE_URL": "http://gw:1"}, "none"),
        ("openai/gpt-5.4", {"OPENAI_API_KEY": "k"}, "OPENAI_API_KEY"),
        ("ollama/x", {}, "none"),
        ("scripted/x", {}, "none"),
    ],
)
def test_the_source_of_the_key_is_told(name: str, env: dict[str, str], source: str) -> None:
    assert found(name, env)[2] == source


def test_a_key_command_is_a_source_of_its_own() -> None:
    assert found("opus", {}, {"apiKeyHelper": "echo k"})[2] == "apiKeyHelper"


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        (None, {}, "No model is configured."),
        ("ollma/x", {}, "There is no provider 'ollma'. Did you mean ollama?"),
        ("sonnett", {}, "The model 'sonnett' is not known. Did you mean sonnet?"),
        ("gpt-5.4", {}, "The model 'gpt-5.4' is not known. Did you mean openai/gpt-5.4?"),
        ("zzzzzz", {}, "The model 'zzzzzz' is not known."),
    ],
)
def test_wrong_names_are_one_sentence_with_a_guess(
    name: str | None, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        resolve(name, {}, settings.get)
    assert caught.value.message == message
    assert caught.value.hint


def test_a_provider_that_was_left_out_says_why_when_it_is_asked_for() -> None:
    with pytest.raises(ConfigError, match=r"providers\.gw: a new provider needs `protocol` and `baseUrl`"):
        resolve("gw/x", KEY, {"providers": {"gw": {}}}.get)


def test_without_a_model_three_easy_ways_are_named() -> None:
    with pytest.raises(UsageError) as caught:
        resolve(None, {}, no_setting)
    for way in ("ANTHROPIC_API_KEY", "ollama/", "--model scripted/tour"):
        assert way in caught.value.hint


@pytest.mark.parametrize(
    ("name", "variable"),
    [("opus", "ANTHROPIC_API_KEY"), ("openai/gpt-5.4", "OPENAI_API_KEY"), ("groq/x", "GROQ_API_KEY")],
)
def test_a_missing_key_names_its_variable(name: str, variable: str) -> None:
    with pytest.raises(ModelError) as caught:
        resolve(name, {}, no_setting)
    assert (caught.value.kind, variable in caught.value.message) == ("authentication_failed", True)


def test_the_card_knows_limits_prices_and_label() -> None:
    card = resolve("claude-sonnet-4-5", KEY, no_setting).card
    assert (card.label, card.context_window, card.max_output) == ("Sonnet 4.5", 200_000, 32_000)
    assert card.price == Price(3.0, 15.0, 0.3, 3.75, 6.0)
    assert card.cost(Usage(input=10, output=5)) == pytest.approx(0.000105)
    assert resolve("claude-sonnet-4-5[1m]", KEY, no_setting).card.context_window == 1_000_000


def test_dated_names_share_the_card_and_longer_numbers_do_not() -> None:
    assert resolve("claude-opus-4-5-20251101", KEY, no_setting).card.label == "Opus 4.5"
    assert resolve("claude-3-5-haiku-latest", KEY, no_setting).card.label == "Haiku 3.5"
    assert resolve("claude-opus-5-7", KEY, no_setting).card.label == ""


def test_unlisted_models_get_careful_defaults() -> None:
    unknown = resolve("brand-new", KEY, no_setting).card
    local = resolve("ollama/x", {}, no_setting).card
    assert (unknown.thinking, unknown.effort, unknown.max_output) == ("adaptive", "high", 32_000)
    assert (local.thinking, local.effort, local.price) == ("", "", None)


def test_users_can_set_prices() -> None:
    settings = {"modelPricing": {"brand-new": {"input": 1, "output": 2, "cacheWrite1h": 3}}}
    assert resolve("brand-new", KEY, settings.get).card.price == Price(1.0, 2.0, 0.0, 0.0, 3.0)


def test_a_wrong_price_is_a_clear_error() -> None:
    with pytest.raises(ConfigError, match=r"modelPricing\.brand-new"):
        resolve("brand-new", KEY, {"modelPricing": {"brand-new": {"input": "cheap"}}}.get)


def test_every_listed_model_is_complete_and_named_once() -> None:
    cards = [*CLAUDE, *OTHERS]
    assert len({card.ref for card in cards}) == len(cards)
    assert [card.ref for card in cards if not card.label or card.max_output > card.context_window] == []
    assert [card.id for card in known_models(OWN.get)][-1] == "little"


@pytest.mark.parametrize(
    ("given", "path"),
    [("127.0.0.1:{}", "/v1/chat/completions"), ("http://127.0.0.1:{}/v1/", "/v1/chat/completions")],
)
def test_addresses_in_variables_may_be_short(given: str, path: str) -> None:
    with serve([[{"text": "x"}]]) as server:
        reply(open_model("ollama/x", {"OLLAMA_HOST": given.format(server.port)}, no_setting))
        assert server.requests[0].path == path
        assert "authorization" not in server.requests[0].headers
