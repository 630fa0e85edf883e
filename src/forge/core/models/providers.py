"""Who serves models: a provider is a protocol, a base URL and a way to authenticate. Users add their own rows
in the setting `providers`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import msgspec

from forge.core.model import ModelCard, Price
from forge.foundation.origin import Diagnostic, Origin, Scope, Severity

Setting = Callable[[str, Any], Any]

PROTOCOLS = ("anthropic", "openai_chat", "openai_responses")
# Switches for servers that differ from their protocol; each adapter says which of them it knows.
QUIRKS = (
    "max_tokens",
    "send_limit",
    "no_stream_options",
    "short_ids",
    "echo_reasoning",
    "no_encrypted",
    "no_betas",
)


class Provider(msgspec.Struct, frozen=True):
    """One row of the table.

    `auth` is x-api-key, bearer or none. `token_env` names a variable whose value is sent as a bearer token,
    `url_env` one that replaces the base URL. `quirks` are switches of the protocol's adapter. `own`: the row,
    or a part of it, comes from the user's settings. `web_search`: its servers can search the web.
    `program` is an installed program that answers instead of a server, `options` are settings of its own,
    `terms` what whoever switches it on should know. `enabled`: it may be used.
    """

    name: str
    protocol: str
    base_url: str
    auth: str = "bearer"
    key_env: str = ""
    token_env: str = ""
    url_env: str = ""
    key_helper: str = ""
    headers: dict[str, str] = {}
    models: dict[str, ModelCard] = {}
    quirks: tuple[str, ...] = ()
    hint: str = ""
    own: bool = False
    web_search: bool = False
    program: str = ""
    options: dict[str, Any] = {}
    terms: str = ""
    enabled: bool = True

    def __repr__(self) -> str:
        # Headers may hold secrets.
        return f"Provider({self.name}, {self.protocol})"


def _local(name: str, url: str, url_env: str, start: str, quirks: tuple[str, ...] = ()) -> Provider:
    hint = f"Start it ({start}), or set {url_env} to where it runs."
    return Provider(
        name, "openai_chat", url, key_env=f"{name.upper()}_API_KEY", url_env=url_env, hint=hint, quirks=quirks
    )


def _hosted(name: str, url: str, key_env: str, quirks: tuple[str, ...] = ()) -> Provider:
    hint = "Check the network connection and the proxy variables (HTTPS_PROXY, NO_PROXY)."
    return Provider(name, "openai_chat", url, key_env=key_env, hint=hint, quirks=quirks)


def _program(name: str, protocol: str, program: str, models: tuple[str, ...], terms: str) -> Provider:
    """An installed program, off until the user switches it on; it tells the limits of its models itself."""
    cards = {each: ModelCard(each, name, protocol, effort="medium") for each in models}
    return Provider(
        name, protocol, "", auth="none", models=cards, program=program, terms=terms, enabled=False
    )


_ROWS = (
    Provider(
        "anthropic",
        "anthropic",
        "https://api.anthropic.com",
        auth="x-api-key",
        key_env="ANTHROPIC_API_KEY",
        token_env="ANTHROPIC_AUTH_TOKEN",
        url_env="ANTHROPIC_BASE_URL",
        hint="Check ANTHROPIC_BASE_URL, the network connection and the proxy variables.",
        web_search=True,
    ),
    Provider(
        "openai",
        "openai_responses",
        "https://api.openai.com/v1",
        key_env="OPENAI_API_KEY",
        url_env="OPENAI_BASE_URL",
        hint="Check OPENAI_BASE_URL, the network connection and the proxy variables.",
        web_search=True,
    ),
    _hosted("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    _hosted(
        "deepseek",
        "https://api.deepseek.com/v1",
        "DEEPSEEK_API_KEY",
        ("max_tokens", "send_limit", "echo_reasoning"),
    ),
    _hosted(
        "gemini",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "GEMINI_API_KEY",
        ("max_tokens",),
    ),
    _hosted("groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    _hosted(
        "mistral",
        "https://api.mistral.ai/v1",
        "MISTRAL_API_KEY",
        ("max_tokens", "short_ids", "no_stream_options"),
    ),
    _local("ollama", "http://127.0.0.1:11434/v1", "OLLAMA_HOST", "`ollama serve`", ("max_tokens",)),
    _local(
        "lmstudio", "http://127.0.0.1:1234/v1", "LMSTUDIO_BASE_URL", "`lms server start`", ("max_tokens",)
    ),
    _local("vllm", "http://127.0.0.1:8000/v1", "VLLM_BASE_URL", "`vllm serve <model>`", ("max_tokens",)),
    _local(
        "llamacpp",
        "http://127.0.0.1:8080/v1",
        "LLAMACPP_BASE_URL",
        "`llama-server -m <file>`",
        ("max_tokens",),
    ),
    _program(
        "claude-code",
        "claude_cli",
        "claude",
        ("sonnet", "opus", "haiku", "fable", "default"),
        "It uses the account the program `claude` is logged in with, under the terms you have agreed to with"
        " Anthropic for it.",
    ),
)

BUILT_IN: Mapping[str, Provider] = {row.name: row for row in _ROWS}


class Prices(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """US dollars per million tokens, and per web search of the provider, as users write them."""

    input: float = 0.0
    output: float = 0.0
    cache_read: float = 0.0
    cache_write: float = 0.0
    cache_write_1h: float = msgspec.field(default=0.0, name="cacheWrite1h")
    web_search: float = 0.01

    @property
    def price(self) -> Price:
        return Price(*(getattr(self, field) for field in Price.__struct_fields__))


class ModelRow(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A model of a provider in the settings."""

    label: str = ""
    context_window: int = 128_000
    max_output: int = 8_192
    price: Prices | None = None
    thinking: Literal["", "adaptive", "enabled"] = ""
    effort: str = ""
    images: bool = True
    documents: bool = False
    knowledge_cutoff: str = ""


class ProviderRow(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A provider in the settings."""

    base_url: str = ""
    protocol: str = ""
    api_key_env: str = ""
    api_key_helper: str = ""
    auth: Literal["", "x-api-key", "bearer", "none"] = ""
    headers: dict[str, str] = {}
    models: dict[str, ModelRow] = {}
    quirks: list[str] = []
    web_search: bool | None = None
    enabled: bool | None = None
    program: str = ""
    options: dict[str, Any] = {}


def read_providers(setting: Setting) -> tuple[dict[str, Provider], list[Diagnostic]]:
    """The built-in rows with the user's on top; rows that cannot be used are left out and reported."""
    table = dict(BUILT_IN)
    problems: list[Diagnostic] = []
    rows = setting("providers", None) or {}
    if not isinstance(rows, Mapping):
        return table, [_problem("providers", "expected an object of provider rows")]
    for name, raw in rows.items():
        try:
            row = msgspec.convert(raw, ProviderRow)
        except msgspec.ValidationError as error:
            problems.append(_problem(f"providers.{name}", str(error)))
            continue
        wrong = _wrong(name, row, table.get(name))
        if wrong:
            problems.append(_problem(f"providers.{name}", wrong))
        else:
            table[name] = _merged(name, row, table.get(name))
    return table, problems


def _wrong(name: str, row: ProviderRow, base: Provider | None) -> str:
    """The first thing that is wrong with a row, or ""."""
    unknown = next((quirk for quirk in row.quirks if quirk not in QUIRKS), "")
    complaints = {
        "a provider's name may not be empty or contain a slash": "/" in name or not name,
        "this name is taken by the scripted model": name == "scripted",
        f"protocol {row.protocol!r} is unknown, expected one of {', '.join(PROTOCOLS)}": row.protocol
        and row.protocol not in PROTOCOLS,
        f"quirk {unknown!r} is unknown, expected some of {', '.join(QUIRKS)}": unknown,
        "program and options are for a provider that is a program": (row.program or row.options)
        and not (base and base.program),
        "a new provider needs `protocol` and `baseUrl`": base is None and not (row.protocol and row.base_url),
        "webSearch needs the protocol anthropic or openai_responses": row.web_search
        and (row.protocol or (base.protocol if base else "")) == "openai_chat",
        "baseUrl must begin with http:// or https://": row.base_url
        and not row.base_url.startswith(("http://", "https://")),
    }
    return next((text for text, wrong in complaints.items() if wrong), "")


def _merged(name: str, row: ProviderRow, base: Provider | None) -> Provider:
    style = "x-api-key" if row.protocol == "anthropic" else "bearer"
    base = base or Provider(name, row.protocol, row.base_url, auth=style)
    protocol = row.protocol or base.protocol
    cards = {key: _card(name, protocol, key, model) for key, model in row.models.items()}
    key_given = row.api_key_env or row.api_key_helper
    return Provider(
        name=name,
        protocol=protocol,
        base_url=row.base_url or base.base_url,
        auth=row.auth or base.auth,
        key_env=row.api_key_env or ("" if row.api_key_helper else base.key_env),
        token_env="" if key_given else base.token_env,
        url_env="" if row.base_url else base.url_env,
        key_helper=row.api_key_helper or base.key_helper,
        headers={**base.headers, **row.headers},
        models={**base.models, **cards},
        quirks=(*base.quirks, *row.quirks),
        hint=f"Check `baseUrl` of the provider {name} in the settings, and that the server is running."
        if row.base_url
        else base.hint,
        own=True,
        web_search=_searches(row, base, protocol),
        program=row.program or base.program,
        options={**base.options, **row.options},
        terms=base.terms,
        enabled=base.enabled if row.enabled is None else row.enabled,
    )


def _searches(row: ProviderRow, base: Provider, protocol: str) -> bool:
    """Whoever sends a built-in provider elsewhere has another server, which is not expected to search."""
    moved = bool(row.base_url) or protocol != base.protocol
    return base.web_search and not moved if row.web_search is None else row.web_search


def _card(provider: str, protocol: str, name: str, row: ModelRow) -> ModelCard:
    return ModelCard(
        id=name,
        provider=provider,
        protocol=protocol,
        label=row.label,
        context_window=row.context_window,
        max_output=row.max_output,
        price=row.price.price if row.price else None,
        thinking=row.thinking,
        effort=row.effort,
        images=row.images,
        documents=row.documents,
        knowledge_cutoff=row.knowledge_cutoff,
    )


def _problem(key: str, text: str) -> Diagnostic:
    return Diagnostic(
        Severity.ERROR,
        text,
        Origin(Scope.USER),
        hint="This provider is left out until it is corrected.",
        key=key,
    )
