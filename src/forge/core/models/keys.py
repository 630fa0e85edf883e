"""Finds address and key of a provider in the environment and the settings."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from forge.core.http.url import split_url
from forge.core.models.credential import Credential
from forge.core.models.providers import BUILT_IN, Provider, Setting
from forge.foundation.errors import ModelError


class Key(msgspec.Struct, frozen=True):
    """Where the key comes from: `source` is for display, `auth` how it is sent."""

    source: str
    auth: str
    variable: str = ""
    command: str = ""

    def credential(self, env: Mapping[str, str]) -> Credential:
        return Credential(env.get(self.variable, ""), self.command, env)


NO_KEY = Key("none", "none")


def find_key(provider: Provider, env: Mapping[str, str], setting: Setting) -> Key:
    """The key to use; raises `ModelError` when one is needed and there is none."""
    if provider.token_env and env.get(provider.token_env):
        return Key(provider.token_env, "bearer", variable=provider.token_env)
    if provider.key_env and env.get(provider.key_env):
        return Key(provider.key_env, provider.auth, variable=provider.key_env)
    helper = provider.key_helper or (setting("apiKeyHelper", "") if provider.name == "anthropic" else "")
    if helper:
        both = provider.protocol == "anthropic" and not provider.own
        return Key("apiKeyHelper", "both" if both else provider.auth, command=helper)
    if needs_key(provider, env):
        raise ModelError(
            f"No API key for {provider.name}: {provider.key_env} is not set.",
            kind="authentication_failed",
            hint=f"Set {provider.key_env}, or choose another model with --model.",
        )
    return NO_KEY


def needs_key(provider: Provider, env: Mapping[str, str]) -> bool:
    """Hosted services always do; own, local and redirected servers may work without."""
    if provider.own and provider.name not in BUILT_IN:
        return bool(provider.key_env)
    same = base_url(provider, env) == provider.base_url
    return bool(provider.key_env) and same and not split_url(provider.base_url).local


def base_url(provider: Provider, env: Mapping[str, str]) -> str:
    """The address of a provider; variables may give it without scheme and without the version path."""
    given = env.get(provider.url_env, "").strip() if provider.url_env else ""
    if not given:
        return provider.base_url
    if "://" not in given:
        given = f"http://{given.replace('0.0.0.0', '127.0.0.1')}"
    url = split_url(given)
    if url.path == "/" and provider.base_url.endswith("/v1"):
        return given.rstrip("/") + "/v1"
    return given
