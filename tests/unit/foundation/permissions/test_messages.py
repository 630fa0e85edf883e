from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forge.foundation.permissions.situation import Decision
from unit.foundation.permissions.workspace import build, filled, judge

INSIDE = (
    "{} needs approval. The path is inside the working directories for this session ('{{repo}}'), and"
    " Claude Code asks before a shell command creates, changes or removes files there."
)
OUTSIDE = (
    "{} needs approval. The path is outside the working directories for this session ('{{repo}}'). Allowing"
    " runs the command as written."
)
BLOCKED = (
    "{} was blocked. For security, Claude Code may only {} the allowed working directories for this session:"
    " '{{repo}}'."
)
NO_RULE = "This requires explicit approval and cannot be auto-allowed by permission rules."
ACCEPT_EDITS = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}


def rule(tool: str, *contents: str | None, destination: str = "localSettings") -> dict[str, Any]:
    listed = [{"toolName": tool} | ({"ruleContent": c} if c else {}) for c in contents]
    return {"type": "addRules", "rules": listed, "behavior": "allow", "destination": destination}


def directory(path: str) -> dict[str, Any]:
    return {"type": "addDirectories", "directories": [path], "destination": "session"}


@pytest.fixture(scope="session")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("workspace"))


def told(decision: Decision) -> tuple[str, str | None, str]:
    return decision.verdict, decision.reason_type, decision.message


# row, reason type, message
ASKED: list[tuple[Any, str | None, str]] = [
    ("npm run x", "other", "This command requires approval"),
    ("touch x", None, INSIDE.format("touch in '{repo}/x'")),
    ("echo hi > x", None, INSIDE.format("Output redirection to '{repo}/x'")),
    ("rm {other}/o.txt", None, OUTSIDE.format("rm in '{other}/o.txt'")),
    ("echo hi > {other}/x", None, OUTSIDE.format("Output redirection to '{other}/x'")),
    ("cat {other}/o.txt", None, BLOCKED.format("cat in '{other}/o.txt'", "concatenate files from")),
    ("ls {other}", None, BLOCKED.format("ls in '{other}'", "list files in")),
    ("cd {other}", None, BLOCKED.format("cd in '{other}'", "change directories to")),
    ("cat < {other}/o.txt", None, BLOCKED.format("Input redirection from '{other}/o.txt'", "read files in")),
    (
        "npm run a && curl x",
        "subcommandResults",
        "This Bash command contains multiple operations. The following parts require approval: npm run a,"
        " curl x",
    ),
    ("echo $(ls)", "other", "A nested command in this command can't be checked before it runs"),
    ("cat $X", "other", "A variable in this command can't be checked before it runs"),
    ("(ls)", "other", "This command uses shell operators that require approval for safety"),
    ("eval ls", "other", "'eval' evaluates arguments as shell code"),
    ("watch ls", "other", "What 'watch' starts can't be checked before it runs"),
    ("npm run 'a", "other", "This command requires approval"),
    ("A=1", "other", "A variable set in this command can't be checked before it runs"),
    ("cat <<EOF\na\nEOF", "other", "Heredoc with unquoted delimiter undergoes shell expansion"),
    (
        "ls & ls",
        "safetyCheck",
        "This command uses the `&` background operator, which defers execution past approval-time safety"
        " checks. Approve only if you trust it.",
    ),
    (
        "touch .git/x",
        "safetyCheck",
        "Claude requested permissions to edit {repo}/.git/x which is a sensitive file.",
    ),
    (
        "rm -rf .",
        "safetyCheck",
        "Dangerous rm operation detected: '{repo}'\n\nThis command would remove a workspace directory (the"
        " working directory, an additional working directory, or one of their parent directories). "
        + NO_RULE,
    ),
    (
        "rm -rf /",
        "safetyCheck",
        "Dangerous rm operation detected: '/'\n\nThis command would remove a critical system directory. "
        + NO_RULE,
    ),
    (
        ["Read", "{other}/o.txt"],
        "workingDir",
        "Claude requested permissions to read from {other}/o.txt, but you haven't granted it yet.",
    ),
    (
        ["Write", "{repo}/n"],
        None,
        "Claude requested permissions to write to {repo}/n, but you haven't granted it yet.",
    ),
    (
        ["Write", "{repo}/.claude/settings.json"],
        "safetyCheck",
        "Claude requested permissions to write to {repo}/.claude/settings.json, but you haven't granted it"
        " yet.",
    ),
    (
        ["WebFetch", "http://example.com/x"],
        None,
        "Claude requested permissions to use WebFetch, but you haven't granted it yet.",
    ),
    (
        ["WebSearch", {"query": "x"}],
        None,
        "Claude requested permissions to use WebSearch, but you haven't granted it yet.",
    ),
    (
        ["mcp__server__tool", {}],
        None,
        "Claude requested permissions to use mcp__server__tool, but you haven't granted it yet.",
    ),
]


@pytest.mark.parametrize(("row", "kind", "message"), ASKED)
def test_questions_say_what_needs_approval(row: Any, kind: str | None, message: str, root: Path) -> None:
    assert told(judge({}, row, root)) == ("ask", kind, filled(message, root))


# given, row, reason type, message
DENIED: list[tuple[dict[str, Any], Any, str | None, str]] = [
    (
        {"deny": ["Bash(touch *)"]},
        "touch x.txt",
        "subcommandResults",
        "Permission to use Bash with command touch x.txt has been denied.",
    ),
    (
        {"deny": ["Bash(curl x)"]},
        "curl x",
        "rule",
        "Permission to use Bash with command curl x has been denied.",
    ),
    (
        {"deny": ["Bash(run_in_background:true)"]},
        ["Bash", {"command": "ls", "run_in_background": True}],
        "rule",
        "Permission to use Bash with run_in_background:true has been denied.",
    ),
    (
        {"deny": ["Read(secrets/**)"]},
        ["Read", "{repo}/secrets/key.txt"],
        "rule",
        "File is in a directory that is denied by your permission settings.",
    ),
    (
        {"deny": ["Read(secrets/**)"]},
        ["Write", "{repo}/secrets/n"],
        "rule",
        "File is covered by a Read deny rule in your permission settings and cannot be written.",
    ),
    (
        {"deny": ["Read(secrets/**)"]},
        "cd secrets && cat key.txt",
        "rule",
        "cat from '{repo}/secrets/key.txt' was blocked by a deny rule.",
    ),
    (
        {"deny": ["WebFetch(domain:example.com)"]},
        ["WebFetch", "http://example.com/x"],
        "rule",
        "WebFetch denied access to domain:example.com.",
    ),
    (
        {"deny": ["Task(Explore)"]},
        ["Task", {"subagent_type": "Explore"}],
        "rule",
        "Agent type 'Explore' has been denied by permission rule 'Agent(Explore)' from userSettings.",
    ),
    (
        {"deny": ["Skill(code:*)"]},
        ["Skill", {"skill": "code-review"}],
        "rule",
        "Skill execution blocked by permission rules",
    ),
]


@pytest.mark.parametrize(("given", "row", "kind", "message"), DENIED)
def test_denials_name_what_was_denied(
    given: dict[str, Any], row: Any, kind: str | None, message: str, root: Path
) -> None:
    assert told(judge(given, row, root)) == ("deny", kind, filled(message, root))


def test_path_denials_are_tool_errors_and_agent_denials_are_not_counted(root: Path) -> None:
    read = judge({"deny": ["Read(secrets/**)"]}, ["Read", "{repo}/secrets/key.txt"], root)
    agent = judge({"deny": ["Agent(Explore)"]}, ["Agent", {"subagent_type": "Explore"}], root)
    assert [(d.tool_error, d.counted) for d in (read, agent)] == [(True, True), (False, False)]


@pytest.mark.parametrize(
    ("given", "row", "kind", "start"),
    [
        (
            {"mode": "dontAsk"},
            "npm run x",
            "mode",
            "Permission to use Bash has been denied because Claude Code is running in don't ask mode.",
        ),
        (
            {"mode": "dontAsk"},
            ["Write", "{repo}/n"],
            "mode",
            "Permission to use Write has been denied because Claude Code is running in don't ask mode.",
        ),
        (
            {"deny_instead_of_prompting": True},
            "npm run x",
            "asyncAgent",
            "Permission for this tool use was denied.",
        ),
    ],
)
def test_without_prompts_questions_become_denials(
    given: dict[str, Any], row: Any, kind: str, start: str, root: Path
) -> None:
    decision = judge(given, row, root)
    assert (decision.verdict, decision.reason_type, decision.message[: len(start)]) == ("deny", kind, start)


def test_plan_mode_says_that_writing_must_wait(root: Path) -> None:
    decision = judge({"mode": "plan", "allow": ["Write"]}, ["Write", "{repo}/n"], root)
    assert told(decision) == ("ask", "mode", filled("Cannot write to {repo}/n while in plan mode.", root))


@pytest.mark.parametrize(
    ("row", "blocked", "suggestions"),
    [
        ("npm run x", None, [rule("Bash", "npm run *")]),
        ("git push origin", None, [rule("Bash", "git push *")]),
        ("make", None, [rule("Bash", "make")]),
        ("./run.sh -x", None, [rule("Bash", "./run.sh -x")]),
        ("npm run a && curl x", None, [rule("Bash", "npm run *", "curl x *")]),
        ("npm run a | curl x", None, [rule("Bash", "npm run *"), rule("Bash", "curl x *")]),
        (
            "touch allowed.txt",
            "{repo}/allowed.txt",
            [rule("Bash", "touch allowed.txt"), directory("{repo}"), ACCEPT_EDITS],
        ),
        (
            "touch n; echo hi",
            "{repo}/n",
            [rule("Bash", "touch n; echo hi"), directory("{repo}"), ACCEPT_EDITS],
        ),
        ("echo hi > x", "{repo}/x", [rule("Bash", "echo hi *"), directory("{repo}")]),
        (
            "cat {other}/o.txt",
            "{other}/o.txt",
            [rule("Bash", "cat {other}/o.txt"), rule("Read", "/{other}/**", destination="session")],
        ),
        ("ls /", "/", []),
        ("echo $(ls)", None, []),
        ("rm -rf .", None, []),
        (["Read", "{other}/o.txt"], None, [rule("Read", "/{other}/**", destination="session")]),
        (["Write", "{repo}/n"], None, [ACCEPT_EDITS]),
        (["Write", "{other}/n"], None, [ACCEPT_EDITS, directory("{other}")]),
        (["WebFetch", "http://example.com/x"], None, [rule("WebFetch", "domain:example.com")]),
        (["WebSearch", {"query": "x"}], None, [rule("WebSearch", None)]),
    ],
)
def test_questions_offer_what_may_be_remembered(
    row: Any, blocked: str | None, suggestions: list[dict[str, Any]], root: Path
) -> None:
    decision = judge({}, row, root)
    expected = [_filled(suggestion, root) for suggestion in suggestions]
    assert (decision.blocked_path, decision.suggestions) == (blocked and filled(blocked, root), expected)


def _filled(value: Any, root: Path) -> Any:
    if isinstance(value, dict):
        return {key: _filled(item, root) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, root) for item in value]
    return filled(value, root) if isinstance(value, str) else value


@pytest.mark.parametrize("tool", ["AskUserQuestion", "ExitPlanMode"])
@pytest.mark.parametrize("mode", ["default", "bypassPermissions"])
def test_questions_to_a_person_always_reach_one(tool: str, mode: str, root: Path) -> None:
    decision = judge({"mode": mode, "allow": [tool]}, [tool, {}], root)
    assert (decision.verdict, decision.requires_interaction) == ("ask", True)


def test_an_ask_rule_is_named_so_that_hooks_cannot_lift_it(root: Path) -> None:
    decision = judge({"ask": ["Bash(git push *)"], "allow": ["Bash"]}, "ls && git push origin", root)
    assert (decision.verdict, decision.reason_type, decision.rule and decision.rule.text) == (
        "ask",
        "rule",
        "Bash(git push *)",
    )
