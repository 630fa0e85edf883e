from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forge.agent.hooks.environment import Unusable, arguments, environment, session_facts
from forge.agent.hooks.hook import Hook
from forge.core.components.kinds import PluginRoot
from forge.foundation.origin import Origin, Scope


def plugin(root: Path, **options: Any) -> PluginRoot:
    return PluginRoot("mine@inline", "mine", str(root), "/data", options)


def hook(fields: dict[str, Any], owner: PluginRoot | None = None, base: str = "") -> Hook:
    return Hook("PreToolUse", "", "command", fields, Origin(Scope.USER), owner, base)


def test_without_arguments_a_shell_reads_the_command() -> None:
    assert arguments(hook({"command": "a | b"}), "/p") == ["/bin/sh", "-c", "a | b"]


@pytest.mark.requirement("S1-41")
def test_with_arguments_only_the_known_names_in_braces_are_replaced(tmp_path: Path) -> None:
    given = [
        "${CLAUDE_PLUGIN_ROOT}/x",
        "$CLAUDE_PLUGIN_ROOT",
        "${CLAUDE_PLUGIN_DATA}",
        "${CLAUDE_PROJECT_DIR}",
    ]
    given += ["a b;c", "${HOME}", "*", "${user_config.token}"]
    made = hook({"command": "run", "args": given}, plugin(tmp_path, token="t"))
    assert arguments(made, "/p") == [
        "run",
        f"{tmp_path}/x",
        "$CLAUDE_PLUGIN_ROOT",
        "/data",
        "/p",
        "a b;c",
        "${HOME}",
        "*",
        "t",
    ]


@pytest.mark.requirement("S1-38")
def test_what_cannot_work_is_refused_before_it_is_started(tmp_path: Path) -> None:
    for made in (
        hook({"command": "${CLAUDE_PLUGIN_ROOT}/x"}),
        hook({"command": "x ${user_config.token}"}, plugin(tmp_path, token="t")),
        hook({"command": "x"}, plugin(tmp_path / "gone")),
    ):
        with pytest.raises(Unusable):
            arguments(made, "/p")


def test_a_relative_command_of_a_skill_starts_at_the_skill() -> None:
    made = hook({"command": "./scripts/x.sh a"}, base="/skill")
    assert arguments(made, "/p") == ["/bin/sh", "-c", '"$CLAUDE_PLUGIN_ROOT"/scripts/x.sh a']


@pytest.mark.requirement("S1-40")
def test_every_fact_is_there_in_both_families(tmp_path: Path) -> None:
    facts = session_facts("s1", "high", "/env.sh", attended=False)
    env = environment(hook({"command": "x"}, plugin(tmp_path, token="t")), {"HOME": "/h"}, facts, "/p")
    for name in (
        "PROJECT_DIR",
        "PLUGIN_ROOT",
        "PLUGIN_DATA",
        "PLUGIN_OPTION_TOKEN",
        "PID",
        "ENV_FILE",
        "EFFORT",
        "SESSION_ID",
    ):
        assert env[f"CLAUDE_{name}"] == env[f"FORGE_{name}"]
    assert (env["HOME"], env["CLAUDECODE"], env["CLAUDE_CODE_SESSION_ATTENDED"]) == ("/h", "1", "0")


def test_telemetry_stays_out_and_credentials_too_where_asked() -> None:
    given = {"OTEL_X": "1", "ANTHROPIC_API_KEY": "k", "PLAIN": "p"}
    assert "OTEL_X" not in environment(hook({"command": "x"}), given, {}, "/p")
    scrubbed = environment(
        hook({"command": "x"}), {**given, "CLAUDE_CODE_SUBPROCESS_ENV_SCRUB": "1"}, {}, "/p"
    )
    assert ("ANTHROPIC_API_KEY" in scrubbed, scrubbed["PLAIN"]) == (False, "p")
