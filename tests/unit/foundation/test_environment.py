from __future__ import annotations

from typing import Any

import pytest

from forge.foundation.environment import WITHHELD_KEYS, effective_env, is_sensitive, withhold_untrusted
from forge.foundation.origin import Diagnostic, Origin, Scope, Severity
from forge.foundation.paths import find_places
from forge.foundation.settings_merge import Layer, Settings, build

SENSITIVE = [
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_BEDROCK_BASE_URL",
    "OPENAI_API_BASE",
    "GITHUB_API_URL",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_HEADERS",
    "HTTP_PROXY",
    "https_proxy",
    "All_Proxy",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "NODE_TLS_REJECT_UNAUTHORIZED",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "AWS_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "AWS_SECRET_ACCESS_KEY",
    "ANTHROPIC_CUSTOM_HEADERS",
    "ANTHROPIC_UNIX_SOCKET",
    "PATH",
    "Path",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "DYLD_INSERT_LIBRARIES",
    "PYTHONPATH",
    "NODE_OPTIONS",
    "BASH_ENV",
    "GIT_SSH_COMMAND",
    "HOME",
    "FORGE_HOME",
    "FORGE_ANYTHING",
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_CODE_SHELL_PREFIX",
    "IS_SANDBOX",
]

HARMLESS = [
    "ANTHROPIC_MODEL",
    "BASH_DEFAULT_TIMEOUT_MS",
    "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
    "MAX_THINKING_TOKENS",
    "DISABLE_TELEMETRY",
    "NODE_ENV",
    "CI",
    "MY_PATHS",
    "PATHS",
    "TZ",
]


def settings(*layers: Layer) -> Settings:
    return build(find_places({"HOME": "/h"}, "/"), list(layers), [])


def env(scope: Scope, **values: str) -> Layer:
    return Layer(scope, f"/{scope.value}", {"env": values})


@pytest.mark.parametrize("name", SENSITIVE)
def test_variable_that_redirects_credentials_is_sensitive(name: str) -> None:
    assert is_sensitive(name)


@pytest.mark.parametrize("name", HARMLESS)
def test_ordinary_variable_is_not_sensitive(name: str) -> None:
    assert not is_sensitive(name)


def test_values_are_literal_and_the_strongest_layer_wins() -> None:
    found = settings(
        env(Scope.USER, A="user", B="$HOME/${X}"), env(Scope.LOCAL, A="local"), Layer(Scope.FLAG, "", {})
    )
    process = {"A": "process", "C": "kept"}
    assert effective_env(process, found, trusted=True) == (
        {"A": "local", "B": "$HOME/${X}", "C": "kept"},
        [],
    )
    assert process == {"A": "process", "C": "kept"}


@pytest.mark.parametrize("scope", [Scope.PROJECT, Scope.LOCAL])
def test_untrusted_workspace_cannot_redirect_credentials(scope: Scope) -> None:
    found = settings(env(Scope.USER, HTTPS_PROXY="mine"), env(scope, HTTPS_PROXY="theirs", NODE_ENV="test"))
    values, notes = effective_env({"HTTPS_PROXY": "process"}, found, trusted=False)
    assert values == {"HTTPS_PROXY": "mine", "NODE_ENV": "test"}
    assert notes == [
        Diagnostic(
            Severity.WARNING,
            "ignored, because this workspace has not been trusted and the key could redirect credentials",
            Origin(scope, f"/{scope.value}"),
            "Trust this workspace to use it.",
            key="env.HTTPS_PROXY",
        )
    ]


def test_trusted_workspace_and_other_layers_may_set_anything() -> None:
    project = settings(env(Scope.PROJECT, HTTPS_PROXY="theirs"))
    assert effective_env({}, project, trusted=True) == ({"HTTPS_PROXY": "theirs"}, [])
    others = settings(env(Scope.USER, A_API_KEY="u"), env(Scope.FLAG, PATH="f"), env(Scope.MANAGED, HOME="m"))
    assert effective_env({}, others, trusted=False) == ({"A_API_KEY": "u", "PATH": "f", "HOME": "m"}, [])


def test_message_does_not_show_the_value() -> None:
    found = settings(env(Scope.PROJECT, ANTHROPIC_API_KEY="sk-secret"))
    _, notes = effective_env({}, found, trusted=False)
    assert "sk-secret" not in repr(notes) + str(notes[0])


def test_keys_that_name_credential_programs_are_withheld() -> None:
    data: dict[str, Any] = {**dict.fromkeys(WITHHELD_KEYS, "x"), "model": "m"}
    layers = [
        Layer(scope, scope.value, data) for scope in (Scope.USER, Scope.PROJECT, Scope.LOCAL, Scope.FLAG)
    ]
    kept, notes = withhold_untrusted(layers)
    assert [layer.data for layer in kept] == [data, {"model": "m"}, {"model": "m"}, data]
    assert [(note.origin.path, note.key) for note in notes] == [
        (scope, key) for scope in ("project", "local") for key in WITHHELD_KEYS
    ]
