"""The environment the CLI runs in: the user's own, without the marks of one that Forge itself runs under."""

from __future__ import annotations

from collections.abc import Mapping

# These say who pays and how to get there; without them a login or a cloud account would be lost.
_MINE = "CLAUDE_CODE_"
_KEPT = (
    *("OAUTH_TOKEN", "OAUTH_REFRESH_TOKEN", "OAUTH_SCOPES", "API_KEY_HELPER_TTL_MS"),
    *("USE_BEDROCK", "USE_VERTEX", "USE_FOUNDRY"),
    *("SKIP_BEDROCK_AUTH", "SKIP_VERTEX_AUTH", "SKIP_FOUNDRY_AUTH"),
    *("CLIENT_CERT", "CLIENT_KEY", "CLIENT_KEY_PASSPHRASE", "CERT_STORE", "PROXY_RESOLVES_HOSTS"),
    *("GIT_BASH_PATH", "MAX_RETRIES", "DISABLE_NONESSENTIAL_TRAFFIC"),
)
# One turn is one result, and when the conversation is shortened is Forge's own decision.
_SET = {
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
    "DISABLE_AUTO_COMPACT": "1",
    "DISABLE_AUTOUPDATER": "1",
    "ENABLE_TOOL_SEARCH": "false",
}


def cli_environment(env: Mapping[str, str], max_tokens: int | None = None) -> dict[str, str]:
    """The variables for the CLI; `max_tokens` limits each reply."""
    clean = {name: value for name, value in env.items() if _wanted(name)}
    clean |= _SET
    if max_tokens:
        clean["CLAUDE_CODE_MAX_OUTPUT_TOKENS"] = str(max_tokens)
    return clean


def _wanted(name: str) -> bool:
    if name in ("CLAUDECODE", "CLAUDE_AGENT_SDK_VERSION") or name.startswith("FORGE"):
        return False
    return not name.startswith(_MINE) or name.removeprefix(_MINE) in _KEPT
