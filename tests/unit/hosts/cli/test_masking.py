from __future__ import annotations

from typing import Any

import pytest

from forge.hosts.cli.masking import MASK, is_secret_name, masked


@pytest.mark.parametrize(
    "name",
    [
        "ANTHROPIC_API_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "GITHUB_TOKEN",
        "apiKey",
        "MY_PASSWORD",
        "auth-token",
        "client_secret",
        "ANTHROPIC_CUSTOM_HEADERS",
        "Authorization",
        "GL_PAT",
        "GOOGLE_APPLICATION_CREDENTIALS",
    ],
)
def test_names_of_secrets_are_recognised(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "apiKeyHelper",
        "apiKeyEnv",
        "PATH",
        "KEYBOARD",
        "MONKEY_COUNT",
        "model",
        "keybindingFlavor",
        "DISABLE_TELEMETRY",
    ],
)
def test_other_names_are_not_taken_for_secrets(name: str) -> None:
    assert not is_secret_name(name)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ({"env": {"API_KEY": "abc", "LANG": "C"}}, {"env": {"API_KEY": MASK, "LANG": "C"}}),
        ({"headers": {"x-team": "red"}}, {"headers": {"x-team": MASK}}),
        ({"env": {"PROXY": "http://me:pw@proxy:80"}}, {"env": {"PROXY": f"http://{MASK}@proxy:80"}}),
        ({"apiKeyHelper": "echo sk-ant-0123456789"}, {"apiKeyHelper": f"echo {MASK}"}),
        ({"list": ["ghp_0123456789abc", "plain", 3]}, {"list": [MASK, "plain", 3]}),
        ({"env": {"API_KEY": ""}, "verbose": True}, {"env": {"API_KEY": ""}, "verbose": True}),
    ],
)
def test_secrets_are_hidden_wherever_they_are(value: Any, shown: Any) -> None:
    assert masked(value) == shown
