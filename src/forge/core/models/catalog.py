"""From a name to a model that can be asked: aliases, providers, keys, prices and the protocol's adapter.

Adapters are named, not imported: each run loads only the protocol it speaks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import msgspec

from forge.core.http.url import split_url
from forge.core.model import Model, ModelCard, Price
from forge.core.models.cards import ALIASES, CLAUDE, ESTIMATE, OTHERS
from forge.core.models.endpoint import Address, Endpoint
from forge.core.models.errors import Peer
from forge.core.models.keys import NO_KEY, Key, base_url, find_key, needs_key
from forge.core.models.providers import Prices, Provider, Setting, read_providers
from forge.core.models.retry import FallbackModel, Patience, RetryingModel
from forge.foundation.errors import ConfigError, UsageError
from forge.foundation.suggest import closest

_ADAPTERS = {
    "anthropic": "forge.core.models.anthropic:AnthropicModel",
    "openai_chat": "forge.core.models.openai_chat:open_model",
    "openai_responses": "forge.core.models.openai_responses:open_model",
    "claude_cli": "forge.core.models.claude_cli.provider:CliModel",
    "scripted": "forge.core.models.scripted:ScriptedModel",
}
_SCRIPTED = Provider("scripted", "scripted", "", auth="none")
_MILLION = "[1m]"
_WAYS = (
    "Set ANTHROPIC_API_KEY for the default model; or name one with --model, for example ollama/qwen3-coder "
    "or openai/gpt-5.6-terra with OPENAI_API_KEY; or try --model scripted/tour, which needs nothing."
)


class Choice(msgspec.Struct, frozen=True):
    """A model, who serves it, and where its key comes from (a variable, `apiKeyHelper` or `none`)."""

    card: ModelCard
    provider: Provider
    key_source: str


def resolve(name: str | None, env: Mapping[str, str], setting: Setting) -> Choice:
    """The model a name stands for; raises `UsageError` or `ModelError` with what to do."""
    card, provider = _find(name, env, setting)
    return Choice(card, provider, _key(provider, env, setting).source)


def find_card(name: str, env: Mapping[str, str], setting: Setting) -> ModelCard:
    """What is known of a model, whether it can be asked or not; raises like `resolve`."""
    return _find(name, env, setting)[0]


def open_model(
    name: str | None,
    env: Mapping[str, str],
    setting: Setting,
    *,
    fallbacks: Sequence[str] = (),
    device_id: str = "",
) -> Model:
    """A model ready to be asked, with retries, and with fallbacks when any are named."""
    opened = [_open_one(each, env, setting, device_id) for each in (name, *fallbacks)]
    last = opened[-1]
    models = [RetryingModel(model, Patience.of(env, last=model is last)) for model in opened]
    return FallbackModel(models) if len(models) > 1 else models[0]


def known_models(setting: Setting) -> list[ModelCard]:
    """Every model that can be named without asking a server: the built-in table, then the user's."""
    rows = read_providers(setting)[0].values()
    own = [card for row in rows if row.enabled for card in row.models.values()]
    return [*CLAUDE, *OTHERS, *own]


def _find(name: str | None, env: Mapping[str, str], setting: Setting) -> tuple[ModelCard, Provider]:
    providers, problems = read_providers(setting)
    wanted = (name or env.get("ANTHROPIC_MODEL") or setting("model", "") or "").strip()
    if not wanted:
        if not _anthropic_ready(providers["anthropic"], env, setting):
            raise UsageError("No model is configured.", _WAYS)
        wanted = "default"
    wanted = _without_alias(wanted, env)
    if wanted.startswith("scripted/"):
        return _scripted_card(wanted.removeprefix("scripted/")), _SCRIPTED
    prefix, slash, rest = wanted.partition("/")
    for problem in problems:
        if problem.key == f"providers.{prefix}":
            raise ConfigError(problem.message, path=f"settings: {problem.key}")
    if slash and prefix in providers and rest:
        provider, model = providers[prefix], rest
    else:
        provider, model = _provider_of(wanted, providers, env, setting), wanted
    return _priced(_card(model, provider, setting), setting), provider


def _without_alias(wanted: str, env: Mapping[str, str]) -> str:
    plain = wanted.lower().removesuffix(_MILLION)
    if plain not in ALIASES:
        return wanted
    family = "OPUS" if plain == "default" else plain.upper()
    suffix = _MILLION if wanted.lower().endswith(_MILLION) else ""
    return (env.get(f"ANTHROPIC_DEFAULT_{family}_MODEL") or ALIASES[plain]) + suffix


def _provider_of(
    wanted: str, providers: Mapping[str, Provider], env: Mapping[str, str], setting: Setting
) -> Provider:
    """The provider of a name without one."""
    anthropic = providers["anthropic"]
    if _listed(CLAUDE, wanted) is not None:
        return anthropic
    for provider in providers.values():
        if wanted in provider.models and not provider.program:
            return provider
    # Gateways have names of their own, also with slashes in them.
    prefix, slash, _ = wanted.partition("/")
    if _anthropic_ready(anthropic, env, setting) and (
        not slash or base_url(anthropic, env) != anthropic.base_url
    ):
        return anthropic
    if slash:
        known = [*providers, "scripted"]
        raise UsageError(
            f"There is no provider {prefix!r}.{_guess(closest(prefix, known))}", f"Known: {', '.join(known)}."
        )
    names = [*ALIASES, *(card.id for card in CLAUDE), *(card.ref for card in OTHERS)]
    owner = next((card.ref for card in OTHERS if card.id == wanted), "")
    guess = _guess(owner or closest(wanted, names))
    raise UsageError(f"The model {wanted!r} is not known.{guess}", "Write it as provider/model. " + _WAYS)


def _guess(name: str) -> str:
    return f" Did you mean {name}?" if name else ""


def _anthropic_ready(provider: Provider, env: Mapping[str, str], setting: Setting) -> bool:
    found = any(env.get(v) for v in (provider.key_env, provider.token_env) if v)
    return found or bool(setting("apiKeyHelper", "") or provider.key_helper) or not needs_key(provider, env)


def _card(model: str, provider: Provider, setting: Setting) -> ModelCard:
    large = model.lower().endswith(_MILLION)
    name = model[: -len(_MILLION)] if large else model
    overrides = setting("modelOverrides", None) or {}
    card = provider.models.get(name) or _listed((*CLAUDE, *OTHERS), name, provider.name)
    if card is None:
        card = _unlisted(name, provider)
    card = msgspec.structs.replace(
        card,
        id=overrides.get(name, name),
        protocol=provider.protocol,
        web_search=provider.web_search,
    )
    return msgspec.structs.replace(card, context_window=1_000_000) if large else card


def _listed(cards: Sequence[ModelCard], name: str, provider: str = "anthropic") -> ModelCard | None:
    """The card of a name, which may carry a date or `-latest` at its end."""
    for card in cards:
        if card.provider != provider or not name.startswith(card.id):
            continue
        rest = name[len(card.id) :]
        if rest in ("", "-latest") or (
            rest[0] in "-@" and rest[1:].replace("-", "").isdecimal() and len(rest) > 8
        ):
            return card
    return None


def _unlisted(name: str, provider: Provider) -> ModelCard:
    if provider.protocol == "anthropic" and not provider.own:
        return ModelCard(
            name, provider.name, provider.protocol, price=ESTIMATE, thinking="adaptive", effort="high"
        )
    return ModelCard(
        name, provider.name, provider.protocol, context_window=128_000, max_output=8_192, documents=False
    )


def _priced(card: ModelCard, setting: Setting) -> ModelCard:
    """The card with the user's own price, if there is one."""
    rows: Any = setting("modelPricing", None) or {}
    raw = rows.get(card.id) or rows.get(card.ref) if isinstance(rows, Mapping) else None
    if raw is None:
        return card
    try:
        price: Price = msgspec.convert(raw, Prices).price
    except msgspec.ValidationError as error:
        raise ConfigError(f"{error}", path=f"settings: modelPricing.{card.id}") from None
    return msgspec.structs.replace(card, price=price)


def _scripted_card(path: str) -> ModelCard:
    # A script does not know how to summarise itself, so its window never fills.
    window = 1_000_000_000
    return ModelCard(path, "scripted", "scripted", "Scripted model", context_window=window, price=Price())


def _key(provider: Provider, env: Mapping[str, str], setting: Setting) -> Key:
    if not provider.enabled:
        raise UsageError(
            f"The provider {provider.name} is switched off.",
            f"Switch it on with: forge models enable {provider.name}. {provider.terms}".strip(),
        )
    if provider.program:
        find_installed(provider, env)
    return NO_KEY if provider.program or provider.protocol == "scripted" else find_key(provider, env, setting)


def login_problem(provider: Provider, env: Mapping[str, str]) -> str:
    """Why the program of a provider could not ask a model, "" if nothing speaks against it."""
    said: str = _adapter(provider.protocol).login_problem(provider, env)
    return said


def find_installed(provider: Provider, env: Mapping[str, str]) -> str:
    """The program of a provider that is one, in words; raises `UsageError` if it is missing or unusable."""
    try:
        found: str = _adapter(provider.protocol).describe(provider, env)
    except ModuleNotFoundError:
        raise UsageError(f"{provider.name} is not part of this installation.") from None
    return found


def _open_one(name: str | None, env: Mapping[str, str], setting: Setting, device_id: str) -> Model:
    card, provider = _find(name, env, setting)
    if provider.protocol == "scripted":
        scripted: Model = _adapter("scripted")(card)
        return scripted
    if provider.program:
        _key(provider, env, setting)
        program: Model = _adapter(provider.protocol)(card, provider, env)
        return program
    endpoint = open_endpoint(provider, env, setting, model=card.id)
    model: Model = _adapter(provider.protocol)(card, endpoint, device_id=device_id, quirks=provider.quirks)
    return model


def open_endpoint(provider: Provider, env: Mapping[str, str], setting: Setting, model: str = "") -> Endpoint:
    """The server of a provider, with its key."""
    key = _key(provider, env, setting)
    url = base_url(provider, env)
    host = split_url(url).authority
    variable = "" if key is NO_KEY else key.source
    peer = Peer(model, host, variable, official=host == "api.anthropic.com")
    headers = dict(provider.headers)
    if provider.name == "anthropic":
        headers |= _custom_headers(env.get("ANTHROPIC_CUSTOM_HEADERS", ""))
    return Endpoint(Address(url, key.auth, peer, headers, provider.hint), key.credential(env), env)


def _custom_headers(text: str) -> dict[str, str]:
    pairs = (line.partition(":") for line in text.splitlines() if ":" in line)
    return {name.strip().lower(): value.strip() for name, _, value in pairs}


def _adapter(protocol: str) -> Any:
    module, _, name = _ADAPTERS[protocol].partition(":")
    return getattr(import_module(module), name)
