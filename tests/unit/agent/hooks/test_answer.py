from typing import Any

import pytest

from forge.agent.hooks.answer import Run, judge
from forge.agent.hooks.hook import Hook
from forge.core.components.kinds import PluginRoot
from forge.foundation.origin import Origin, Scope
from unit.agent.hooks.making import answer, specific

DENY = specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="no")
WRONG = specific("PostToolUse", additionalContext="x")

# stdout, exit code → outcome, text of a block, plain text, whether no verdict was given
TABLE: list[tuple[Any, int, tuple[str, str | None, str, bool]]] = [
    ("", 0, ("success", None, "", False)),
    ("", 2, ("error", "[x]: said", "", False)),
    ("", 1, ("error", None, "", False)),
    ("", 127, ("error", None, "", True)),
    ("", -9, ("error", None, "", True)),
    ("plain\n", 0, ("success", None, "plain", False)),
    ("plain", 2, ("error", "[x]: said", "", False)),
    ("plain", 1, ("error", None, "", False)),
    ('{"decision": "block",', 0, ("success", None, '{"decision": "block",', False)),
    ('before {"decision": "block"}', 0, ("success", None, 'before {"decision": "block"}', False)),
    ('{"decision": "block"} after', 0, ("success", None, '{"decision": "block"} after', False)),
    ("[1]", 0, ("success", None, "[1]", False)),
    (DENY, 0, ("success", None, "", False)),
    (DENY, 1, ("success", None, "", False)),
    (DENY, 2, ("error", "[x]: said", "", False)),
    (WRONG, 0, ("error", None, "", True)),
    (WRONG, 1, ("error", None, "", True)),
    (WRONG, 2, ("error", "[x]: said", "", False)),
    ({"decision": "maybe"}, 0, ("error", None, "", True)),
    ({"foo": 1, **specific("PreToolUse", bar=2)}, 0, ("success", None, "", False)),
]


@pytest.mark.requirement("S0-36", "S1-39")
@pytest.mark.parametrize(("output", "code", "expected"), TABLE)
def test_exit_code_and_output_mean_what_the_reference_says(
    output: Any, code: int, expected: tuple[str, str | None, str, bool]
) -> None:
    judged = answer("PreToolUse", output, code, "said")
    assert (judged.outcome, judged.block, judged.plain, judged.no_verdict) == expected


def test_a_block_without_a_word_says_so() -> None:
    assert answer("PreToolUse", "HK", 2).block == "[x]: No stderr output"


@pytest.mark.parametrize(
    ("run", "words"),
    [
        ({"exit_code": 1, "stderr": "why"}, 'failed; blocking because onFailure is "block"\nwhy'),
        ({"exit_code": None, "timed_out": True}, 'timed out; blocking because onFailure is "block"'),
        (
            {"exit_code": None, "failure": "no such file"},
            'failed; blocking because onFailure is "block"\nno such file',
        ),
    ],
)
def test_a_failure_blocks_where_the_hook_says_so(run: dict[str, Any], words: str) -> None:
    hook = Hook("PreToolUse", "", "command", {"command": "x", "onFailure": "block"}, Origin(Scope.USER))
    assert judge(Run(hook, **run)).block == f"[x]: {words}"


@pytest.mark.parametrize("event", ["Stop", "SubagentStop", "TaskCompleted", "TeammateIdle"])
def test_the_end_of_work_is_never_held_up_by_a_failure(event: str) -> None:
    assert answer(event, "", 1, "why", onFailure="block").block is None


def test_plain_text_is_no_failure() -> None:
    assert answer("PreToolUse", '{"x": bad', 0, onFailure="block").block is None


@pytest.mark.parametrize("event", ["PreToolUse", "Stop"])
def test_a_block_of_a_plugin_names_it(event: str) -> None:
    plugin = PluginRoot("mine@inline", "mine", "/plugin", "/data")
    hook = Hook(
        event, "", "command", {"command": "${CLAUDE_PLUGIN_ROOT}/no.sh"}, Origin(Scope.PLUGIN), plugin
    )
    words = "[/plugin/no.sh]: no\n\nThis hook comes from the mine@inline plugin."
    assert judge(Run(hook, 2, "", "no\n")).block == words
