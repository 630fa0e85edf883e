from __future__ import annotations

import pytest

from doubles import allow, deny
from forge.agent.event import Denied
from forge.agent.hooks.port import Outcome
from forge.agent.host import Allow
from forge.core.shell.guard.guard import Guard
from unit.agent.guarded import asked, guarded_session, words

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
