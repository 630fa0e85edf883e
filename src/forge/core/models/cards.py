"""The models known by name, in the order they are offered. Figures as of November 2026.

Prices are US dollars per million tokens: input, output, cache read, cache write (5 minutes and 1 hour).
A model that is not listed works too: it gets the defaults of its provider.
"""

from __future__ import annotations

from forge.core.model import ModelCard, Price

_LARGE, _SMALL = 1_000_000, 200_000

# What each alias stands for; the environment can change it (ANTHROPIC_DEFAULT_OPUS_MODEL and so on).
ALIASES = {
    "default": "claude-opus-5-5",
    "opus": "claude-opus-5-5",
    "sonnet": "claude-sonnet-5-5",
    "haiku": "claude-haiku-5-5",
    "fable": "claude-fable-5-2",
}

# They take system messages in the middle of a conversation.
_ASIDES = (
    *("claude-opus-5-5", "claude-fable-5-2", "claude-sonnet-5-5", "claude-haiku-5-5"),
    *("claude-fable-5-1", "claude-fable-5", "claude-opus-5", "claude-sonnet-5", "claude-opus-4-8"),
)

# All others are told how many tokens are left.
_CAREFREE = ("claude-opus-5-5", "claude-fable-5-2", "claude-sonnet-5-5")

# Unlisted models of the Messages API are counted like the default model: an estimate is better than zero.
ESTIMATE = Price(4.0, 20.0, 0.2, 5.0, 8.0)


def _claude(
    name: str, label: str, price: Price, limits: tuple[int, int], thinking: tuple[str, str], cutoff: str = ""
) -> ModelCard:
    return ModelCard(
        id=name,
        provider="anthropic",
        protocol="anthropic",
        label=label,
        context_window=limits[0],
        max_output=limits[1],
        price=price,
        thinking=thinking[0],
        effort=thinking[1],
        knowledge_cutoff=cutoff,
        asides=name in _ASIDES,
        counts_tokens=name not in _CAREFREE,
        # Those before are older than the mode.
        auto_mode=thinking[0] == "adaptive",
    )


_ADAPTIVE_MEDIUM, _ADAPTIVE_HIGH = ("adaptive", "medium"), ("adaptive", "high")
_ENABLED, _NONE = ("enabled", ""), ("", "")
_OPUS_4 = Price(5.0, 25.0, 0.5, 6.25, 10.0)
_SONNET_4 = Price(3.0, 15.0, 0.3, 3.75, 6.0)

CLAUDE = (
    _claude("claude-opus-5-5", "Opus 5.5", ESTIMATE, (_LARGE, 128_000), _ADAPTIVE_MEDIUM),
    _claude(
        "claude-fable-5-2",
        "Fable 5.2",
        Price(8.0, 40.0, 0.2, 10.0, 16.0),
        (_LARGE, 128_000),
        _ADAPTIVE_MEDIUM,
    ),
    _claude(
        "claude-sonnet-5-5",
        "Sonnet 5.5",
        Price(2.0, 10.0, 0.1, 2.5, 4.0),
        (_LARGE, 128_000),
        _ADAPTIVE_MEDIUM,
    ),
    _claude(
        "claude-haiku-5-5",
        "Haiku 5.5",
        Price(0.1, 0.5, 0.01, 0.125, 0.2),
        (_LARGE, 128_000),
        _ADAPTIVE_MEDIUM,
    ),
    _claude(
        "claude-fable-5-1", "Fable 5.1", Price(10.0, 50.0, 0.25, 12.5, 20.0), (_LARGE, 64_000), _ADAPTIVE_HIGH
    ),
    _claude(
        "claude-fable-5", "Fable 5", Price(10.0, 50.0, 1.0, 12.5, 20.0), (_LARGE, 64_000), _ADAPTIVE_HIGH
    ),
    _claude("claude-opus-5", "Opus 5", _OPUS_4, (_LARGE, 64_000), _ADAPTIVE_HIGH),
    _claude("claude-sonnet-5", "Sonnet 5", Price(2.0, 10.0, 0.2, 2.5, 4.0), (_LARGE, 64_000), _ADAPTIVE_HIGH),
    _claude("claude-opus-4-8", "Opus 4.8", _OPUS_4, (_LARGE, 64_000), _ADAPTIVE_HIGH),
    _claude("claude-opus-4-7", "Opus 4.7", _OPUS_4, (_LARGE, 64_000), ("adaptive", "xhigh")),
    _claude("claude-opus-4-6", "Opus 4.6", _OPUS_4, (_SMALL, 64_000), _ADAPTIVE_HIGH, "May 2025"),
    _claude("claude-sonnet-4-6", "Sonnet 4.6", _SONNET_4, (_SMALL, 32_000), _ADAPTIVE_HIGH, "August 2025"),
    _claude("claude-opus-4-5", "Opus 4.5", _OPUS_4, (_SMALL, 32_000), ("enabled", "high"), "May 2025"),
    _claude("claude-sonnet-4-5", "Sonnet 4.5", _SONNET_4, (_SMALL, 32_000), _ENABLED, "January 2025"),
    _claude(
        "claude-haiku-4-5",
        "Haiku 4.5",
        Price(1.0, 5.0, 0.1, 1.25, 2.0),
        (_SMALL, 32_000),
        _ENABLED,
        "February 2025",
    ),
    _claude("claude-sonnet-4-0", "Sonnet 4", _SONNET_4, (_SMALL, 32_000), _ENABLED, "January 2025"),
    _claude("claude-3-7-sonnet", "Sonnet 3.7", _SONNET_4, (_SMALL, 32_000), _NONE, "October 2024"),
    _claude(
        "claude-3-5-haiku", "Haiku 3.5", Price(0.8, 4.0, 0.08, 1.0, 1.6), (_SMALL, 8_192), _NONE, "July 2024"
    ),
)


def _other(
    provider: str, name: str, label: str, price: Price | None, limits: tuple[int, int], effort: str = ""
) -> ModelCard:
    return ModelCard(
        id=name,
        provider=provider,
        protocol="openai_responses" if provider == "openai" else "openai_chat",
        label=label,
        context_window=limits[0],
        max_output=limits[1],
        price=price,
        effort=effort,
        documents=provider == "openai",
    )


_GPT_5_6 = (1_050_000, 128_000)

OTHERS = (
    _other("openai", "gpt-6.1-sol", "GPT-6.1 Sol", Price(2.0, 10.0, 0.1, 2.5), _GPT_5_6, "medium"),
    _other("openai", "gpt-5.6-sol", "GPT-5.6 Sol", Price(5.0, 30.0, 0.5, 6.25), _GPT_5_6, "medium"),
    _other("openai", "gpt-5.6-terra", "GPT-5.6 Terra", Price(2.5, 15.0, 0.25, 3.125), _GPT_5_6, "medium"),
    _other(
        "openai", "gpt-5.6-luna", "GPT-5.6 Luna", Price(1.0, 6.0, 0.1, 1.25), (400_000, 128_000), "medium"
    ),
    _other("openai", "gpt-5.5", "GPT-5.5", Price(5.0, 30.0, 0.5), _GPT_5_6, "medium"),
    _other("openai", "gpt-5.4", "GPT-5.4", Price(2.5, 15.0, 0.25), _GPT_5_6, "medium"),
    _other("openai", "gpt-5.4-mini", "GPT-5.4 mini", Price(0.75, 4.5, 0.075), (400_000, 128_000), "medium"),
    _other("openai", "gpt-5", "GPT-5", Price(1.25, 10.0, 0.125), (400_000, 128_000), "medium"),
    _other("openai", "gpt-4.1", "GPT-4.1", Price(2.0, 8.0, 0.5), (1_047_576, 32_768)),
    _other("deepseek", "deepseek-chat", "DeepSeek Chat", Price(0.14, 0.28, 0.0028), (_LARGE, 8_192)),
    _other("deepseek", "deepseek-reasoner", "DeepSeek Reasoner", Price(0.14, 0.28, 0.0028), (_LARGE, 64_000)),
    _other("gemini", "gemini-3.1-pro", "Gemini 3.1 Pro", Price(2.0, 12.0, 0.2), (1_048_576, 65_536)),
    _other("gemini", "gemini-2.5-pro", "Gemini 2.5 Pro", Price(1.25, 10.0, 0.125), (1_048_576, 65_536)),
    _other("gemini", "gemini-2.5-flash", "Gemini 2.5 Flash", Price(0.3, 2.5, 0.03), (1_048_576, 65_536)),
    _other("mistral", "mistral-large-latest", "Mistral Large", None, (256_000, 32_000)),
    _other("groq", "openai/gpt-oss-120b", "GPT-OSS 120B on Groq", Price(0.15, 0.75), (131_072, 32_768)),
)
