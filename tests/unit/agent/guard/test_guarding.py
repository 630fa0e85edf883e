from __future__ import annotations

import asyncio
from typing import Any

import pytest

from doubles import RecordingHost, allow, call, deny
from forge.agent.event import Denied
from forge.agent.hooks.port import Outcome
from forge.agent.host import Allow
from forge.core.shell.guard.guard import Guard
from forge.core.shell.guard.setup import Setup
from unit.agent.casting import Cast, build, play, results, task
from unit.agent.guarded import TOOLS, Confining, asked, guarded_session, permitting, words

FORBIDDEN = [
    "rm -rf /",
    "rm -rf ~",
    "echo ok; rm -fr /etc",
    "bash -c 'rm -rf ~'",
    "dd if=/dev/zero of=/dev/sda",
    "mkfs.ext4 /dev/sda1",
    ":(){ :|:& };:",
    "kill -9 -1",
    "X=/; rm -rf $X",
    "echo cm0gLXJmIC8= | base64 -d | sh",
]


@pytest.mark.requirement("S2-42", "S2-24")
@pytest.mark.parametrize("mode", ["guard", "full"])
@pytest.mark.parametrize("command", FORBIDDEN)
def test_nothing_forbidden_runs_even_where_nobody_is_asked(command: str, mode: str) -> None:
    s, host = guarded_session(mode, Allow(), rules=allow("Bash"))
    s.set_mode("bypassPermissions")
    verdict = asked(s, command)
    assert "forbidden, risk" in words(verdict)
    assert len(host.of(Denied)) == 1


@pytest.mark.requirement("S2-42")
@pytest.mark.parametrize("name", ["Bash", "Monitor", "forgecmd"])
def test_every_tool_that_runs_commands_is_guarded(name: str) -> None:
    s, _ = guarded_session("guard", rules=allow("Bash", "Monitor", "forgecmd"))
    s.set_mode("bypassPermissions")
    assert "forbidden" in words(asked(s, "rm -rf /", name=name))


@pytest.mark.requirement("S2-42")
def test_a_hook_cannot_allow_what_is_forbidden() -> None:
    s, _ = guarded_session("guard")
    assert "forbidden" in words(asked(s, "mkfs.ext4 /dev/sda1", hooked=Outcome(verdict="allow")))


@pytest.mark.requirement("S2-42")
def test_whoever_is_asked_cannot_allow_what_is_forbidden() -> None:
    s, host = guarded_session("guard", Allow())
    assert "forbidden" in words(asked(s, "rm -rf ~"))
    assert len(host.questions) == 1


@pytest.mark.requirement("S2-42")
def test_an_answer_cannot_turn_a_command_into_a_forbidden_one() -> None:
    s, _ = guarded_session("guard", Allow(updated_input={"command": "rm -rf /"}))
    assert "forbidden" in words(asked(s, "npm run build"))


@pytest.mark.parametrize(
    ("command", "runs"),
    [
        ("ls -la", True),
        ("echo hi", True),
        ("npm run build", False),
        ("rm -rf build", False),
        ("touch x", False),
    ],
)
def test_everything_else_is_left_to_the_rules(command: str, runs: bool) -> None:
    s, _ = guarded_session("guard")
    assert (words(asked(s, command)) == "") is runs


def test_where_all_is_allowed_what_is_only_dangerous_runs() -> None:
    s, _ = guarded_session("guard")
    s.set_mode("bypassPermissions")
    assert words(asked(s, "git reset --hard")) == ""


@pytest.mark.requirement("S2-46")
def test_the_guard_can_be_switched_off() -> None:
    s, _ = guarded_session("off", rules=allow("Bash"))
    s.set_mode("bypassPermissions")
    assert words(asked(s, "mkfs.ext4 /dev/sda1")) == ""
    assert s.keep(Guard).grants == {}


def test_rules_of_a_project_make_things_stricter_without_full_mode() -> None:
    own = {"rules": {"deny": [{"pattern": "terraform *"}], "ask": [{"pattern": "make *"}]}}
    s, host = guarded_session("guard", own=own, rules=allow("Bash"))
    told = [words(asked(s, c)) for c in ("terraform plan", "make all", "npm run x")]
    assert "a deny rule says so: terraform *" in told[0]
    assert "a ask rule says so: make *" in told[1]
    assert (told[2], len(host.questions)) == ("", 1)


def test_a_denied_command_is_denied_as_before() -> None:
    s, _ = guarded_session("guard", rules=deny("Bash(npm *)"))
    assert words(asked(s, "npm i")) == "Permission to use Bash with command npm i has been denied."


@pytest.mark.requirement("S2-01")
def test_the_other_shell_tool_follows_the_rules_for_bash() -> None:
    s, _ = guarded_session("guard", rules=allow("Bash(npm run *)"))
    told = [words(asked(s, c, name="forgecmd")) for c in ("npm run x", "npm i")]
    assert (told[0], bool(told[1])) == ("", True)


def test_a_harmless_command_is_not_analysed() -> None:
    s, _ = guarded_session("guard")
    asked(s, "cat notes.txt")
    assert s.keep(Guard)._judging is None


@pytest.mark.requirement("S2-42", "S2-31")
def test_sub_agents_share_the_guard_and_what_the_user_said() -> None:
    session_rule = {
        "type": "addRules",
        "rules": [{"toolName": "Bash", "ruleContent": "npm install a"}],
        "behavior": "allow",
        "destination": "session",
    }
    calls = [call("Bash", f"c{n}", command=c) for n, c in enumerate(("npm install a", "rm -rf /"))]
    model = Cast(MAIN=[[task("CHILD")], [call("Bash", "m1", command="npm install b")]], CHILD=[calls])
    host = RecordingHost(Allow(updates=[session_rule]))
    s = build(model, host, tools=TOOLS, rules=allow("Agent"), cwd="/home/user/proj")
    guard = Guard(Setup("full"))
    place: Any = Confining()
    guard._workplace = place
    s.share(guard)
    play(s)
    (child,) = [
        r for r in model.requests("CHILD")[1].messages[-1].blocks if getattr(r, "tool_use_id", "") == "c1"
    ]
    assert "forbidden" in str(child)
    assert (len(host.questions), results(s)["m1"].is_error, s.situation.rules) == (1, None, allow("Agent"))


@pytest.mark.requirement("S2-29", "S2-42")
@pytest.mark.parametrize("mode", ["guard", "full"])
@pytest.mark.parametrize(
    ("keys", "lines", "refused"),
    [
        ("ls<Enter>", ("ls",), False),
        ("rm -rf /<Enter>", ("rm -rf /",), True),
        ("ls<Enter>rm -rf ~<Enter>", ("ls\nrm -rf ~",), True),
        ("rm -rf /", (), False),
    ],
)
def test_lines_for_a_shell_are_judged_like_commands(
    mode: str, keys: str, lines: tuple[str, ...], refused: bool
) -> None:
    s, _ = guarded_session(mode, rules=allow("Bash"))
    use = call("forgecmd_session", action="send", session="t1", keys=keys)
    verdict = asyncio.run(permitting(s, use))
    grant = s.keep(Guard).grant_of("call-1")
    assert (verdict.refused is not None, grant.lines if grant else ()) == (refused, lines)


@pytest.mark.parametrize("action", ["screen", "wait", "resize", "stop", "output", "password"])
def test_looking_and_stopping_need_no_permission(action: str) -> None:
    s, host = guarded_session("full")
    verdict = asyncio.run(permitting(s, call("forgecmd_session", action=action, session="t1")))
    assert (verdict.refused, host.questions) == (None, [])
