from __future__ import annotations

from typing import Any

import pytest

from doubles import allow, deny
from forge.agent.event import Warned
from forge.agent.guard.sandbox import is_excluded
from forge.core.shell.guard.guard import Guard
from unit.agent.guarded import asked, guarded_session, words


def played(command: str, sandbox: dict[str, Any], **more: Any) -> tuple[bool, str, int]:
    """Whether a command runs, in which profile, and how often somebody was asked."""
    settings = {"sandbox": {"enabled": True, **sandbox}, "sandbox.enabled": True}
    given = {key: more.pop(key) for key in ("dangerouslyDisableSandbox",) if key in more}
    s, host = guarded_session("guard", settings=settings, **more)
    verdict = asked(s, command, **given)
    grant = s.keep(Guard).grant_of("call-1")
    return verdict.refused is None, grant.profile if grant else "", len(host.questions)


@pytest.mark.requirement("S2-40")
@pytest.mark.parametrize(
    ("command", "sandbox", "more", "expected"),
    [
        ("npm run build", {}, {}, (True, "workspace", 0)),
        ("npm run build", {"autoAllowBashIfSandboxed": False}, {}, (False, "workspace", 1)),
        (
            "npm run build",
            {"autoAllowBashIfSandboxed": False},
            {"rules": allow("Bash")},
            (True, "workspace", 0),
        ),
        ("npm run build", {"excludedCommands": ["npm run *"]}, {}, (False, "", 1)),
        ("docker ps -a", {"excludedCommands": ["docker"]}, {}, (True, "", 0)),
        ("npm i", {}, {"dangerouslyDisableSandbox": True}, (False, "", 1)),
        (
            "npm i",
            {"allowUnsandboxedCommands": False},
            {"dangerouslyDisableSandbox": True},
            (True, "workspace", 0),
        ),
        ("npm i", {}, {"rules": deny("Bash(npm *)")}, (False, "", 0)),
        ("rm -rf ~", {}, {}, (False, "workspace", 1)),
        ("npm i", {}, {"enforcing": False}, (False, "", 1)),
        ("npm i", {"failIfUnavailable": True}, {"enforcing": False}, (False, "", 0)),
        ("ls", {"failIfUnavailable": True}, {"enforcing": False}, (False, "", 0)),
    ],
)
def test_the_sandbox_settings_of_the_reference_hold(
    command: str, sandbox: dict[str, Any], more: dict[str, Any], expected: tuple[bool, str, int]
) -> None:
    assert played(command, sandbox, **more) == expected


def test_a_sandbox_that_does_not_work_is_told_once() -> None:
    settings = {"sandbox": {"enabled": True}, "sandbox.enabled": True}
    s, host = guarded_session("guard", settings=settings, enforcing=False)
    told = [words(asked(s, "ls")) for _ in range(2)]
    assert (told, [event.text for event in host.of(Warned)]) == (
        ["", ""],
        [
            "The sandbox is switched on (sandbox.enabled), but it does not work on this machine "
            "(Landlock: too old). Commands run without it."
        ],
    )


@pytest.mark.parametrize(
    ("text", "excluded", "expected"),
    [
        ("docker ps", ["docker"], True),
        ("docker ps && docker images", ["docker *"], True),
        ("docker ps && ls", ["docker *"], False),
        ("dockerx", ["docker"], False),
        ("docker ps $(", ["docker"], False),
        ("docker ps", None, False),
        ("", ["docker"], False),
    ],
)
def test_only_commands_that_are_excluded_as_a_whole_run_outside(
    text: str, excluded: list[str] | None, expected: bool
) -> None:
    assert is_excluded(text, excluded, "/home/user") is expected
