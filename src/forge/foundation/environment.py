"""The environment a session runs in, and what files of an untrusted workspace may not change in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from forge.foundation.origin import Diagnostic, Scope, Severity
from forge.foundation.settings_merge import Layer, Settings

# Files that come with a checkout: nobody has looked at them before the workspace is trusted.
_UNTRUSTED = (Scope.PROJECT, Scope.LOCAL)

_HINT = "Trust this workspace to use it."

# Settings that name programs which see or supply credentials, or addresses they are sent to.
WITHHELD_KEYS = (
    "apiKeyHelper",
    "awsAuthRefresh",
    "awsCredentialExport",
    "forceLoginGatewayUrl",
    "gcpAuthRefresh",
    "otelHeadersHelper",
    "policyHelper",
    "processWrapper",
    "providers",
    "proxyAuthHelper",
    "webSearch",
)

# Variables that send credentials elsewhere, replace them, or decide which programs and libraries are loaded.
# (Text, not compiled here: most runs never need it.)
_WITHHELD_VARIABLE = r"""
    .*_(BASE_URL|API_URL|API_BASE|ENDPOINT|PROXY|API_KEY|TOKEN|SECRET|HEADERS|PASSWORD|CREDENTIALS)
    |.*_(CA_BUNDLE|CA_CERTS?|CA_FILE|CA_PATH|SECRET_ACCESS_KEY|ACCESS_KEY_ID|UNIX_SOCKET)
    |SSL_CERT_(FILE|DIR)|NODE_EXTRA_CA_CERTS|NODE_TLS_REJECT_UNAUTHORIZED|GIT_SSL_.*|SSLKEYLOGFILE
    |PATH|HOME|USERPROFILE|SHELL|ENV|BASH_ENV|IFS|XDG_CONFIG_HOME|LD_.*|DYLD_.*
    |NODE_OPTIONS|NODE_PATH|PYTHON(PATH|HOME|STARTUP)|PERL5(LIB|OPT|DB)|RUBY(LIB|OPT)|.*JAVA_(TOOL_)?OPTIONS
    |GIT_(SSH|SSH_COMMAND|EXEC_PATH|ASKPASS|CONFIG.*)|SSH_ASKPASS
    |OLLAMA_HOST|DOCKER_HOST|IS_SANDBOX|FORGE.*
    |CLAUDE_(CONFIG_DIR|ENV_FILE|CODE_SHELL|CODE_SHELL_PREFIX|CODE_TMPDIR|CODE_CLIENT_.*)
    """


def effective_env(
    process_env: Mapping[str, str], settings: Settings, *, trusted: bool
) -> tuple[dict[str, str], list[Diagnostic]]:
    """The process environment with the literal `env` values of all layers on top."""
    env = dict(process_env)
    notes: list[Diagnostic] = []
    for layer in settings.layers:
        for name, value in layer.data.get("env", {}).items():
            if not trusted and layer.scope in _UNTRUSTED and is_sensitive(name):
                notes.append(_note(layer, f"env.{name}"))
            else:
                env[name] = value
    return env, notes


def is_sensitive(name: str) -> bool:
    """Whether a variable can redirect credentials or replace programs."""
    return re.fullmatch(_WITHHELD_VARIABLE, name, re.VERBOSE | re.IGNORECASE) is not None


def withhold_untrusted(layers: list[Layer]) -> tuple[list[Layer], list[Diagnostic]]:
    """The layers without what project and local files of an untrusted workspace may not say."""
    kept: list[Layer] = []
    notes: list[Diagnostic] = []
    for layer in layers:
        taken = [key for key in WITHHELD_KEYS if key in layer.data] if layer.scope in _UNTRUSTED else []
        notes += [_note(layer, key) for key in taken]
        kept.append(_without(layer, taken) if taken else layer)
    return kept, notes


def _without(layer: Layer, keys: list[str]) -> Layer:
    data: dict[str, Any] = {key: value for key, value in layer.data.items() if key not in keys}
    return msgspec.structs.replace(layer, data=data)


def _note(layer: Layer, key: str) -> Diagnostic:
    message = "ignored, because this workspace has not been trusted and the key could redirect credentials"
    return Diagnostic(Severity.WARNING, message, layer.origin, _HINT, key=key)
