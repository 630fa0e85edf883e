"""Preferences, the hook's input, and feedback that waits for its session."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from forge.foundation.errors import ConfigError, UsageError
from forge.foundation.system.liveness import process_start
from forge.hosts.diffy.payload import Payload, agent_process, parse_payload, working_directory
from forge.hosts.diffy.preferences import Preferences, is_unattended, read_preferences
from forge.hosts.diffy.undelivered import Letter, collect, keep

ATTENDED: list[tuple[dict[str, str], bool]] = [
    ({}, False),
    ({"CLAUDE_CODE_SESSION_ATTENDED": "0"}, True),
    ({"CLAUDE_CODE_SESSION_ATTENDED": "1", "CI": "true"}, False),
    ({"FORGE_SESSION_ATTENDED": "0", "CLAUDE_CODE_SESSION_ATTENDED": "1"}, True),
    ({"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}, True),
    ({"CLAUDE_CODE_ENTRYPOINT": "cli"}, False),
    ({"CI": "1"}, True),
    ({"CI": "false"}, False),
]


@pytest.mark.parametrize(("env", "unattended"), ATTENDED)
def test_agent_or_machine_says_that_nobody_watches(env: dict[str, str], unattended: bool) -> None:
    assert is_unattended(env) is unattended


def test_variables_are_stronger_than_the_file(tmp_path: Path) -> None:
    (tmp_path / "diffy.json").write_text('{"surface": "tmux", "unattended": "web", "web": true, "more": 1}')
    env = {"FORGE_HOME": str(tmp_path)}
    assert read_preferences(env) == Preferences("tmux", "web", "exit2", True)
    more = {"DIFFY_SURFACE": "web", "DIFFY_UNATTENDED": "block", "DIFFY_WEB_PORT": "8123"}
    assert read_preferences(env | more) == Preferences("web", "block", "exit2", True, 8123)


@pytest.mark.parametrize(
    ("text", "env", "error"),
    [
        ('{"web": 1}', {}, ConfigError),
        ("{", {}, ConfigError),
        ('{"unattended": "wait"}', {}, UsageError),
        ("{}", {"DIFFY_HOOK_OUTPUT": "xml"}, UsageError),
    ],
)
def test_wrong_preference_is_named(
    tmp_path: Path, text: str, env: dict[str, str], error: type[Exception]
) -> None:
    (tmp_path / "diffy.json").write_text(text)
    with pytest.raises(error):
        read_preferences({"FORGE_HOME": str(tmp_path), **env})


INPUTS = [
    (b"", Payload()),
    (b"{", Payload()),
    (b"[1]", Payload()),
    (b"\xff\xfe", Payload()),
    (b'{"session_id": 7, "cwd": null, "stop_hook_active": "yes"}', Payload()),
    (
        b'{"session_id": "s", "cwd": "/x", "stop_hook_active": true, "effort": {}}\n',
        Payload("s", "/x", stop_hook_active=True),
    ),
]


@pytest.mark.parametrize(("data", "payload"), INPUTS)
def test_input_that_is_no_event_counts_as_a_call_by_hand(data: bytes, payload: Payload) -> None:
    assert parse_payload(data) == payload


def test_directory_that_is_gone_is_replaced_by_the_own_one(tmp_path: Path) -> None:
    assert working_directory(Payload(cwd=str(tmp_path))) == str(tmp_path)
    assert working_directory(Payload(cwd=str(tmp_path / "gone"))) == os.getcwd()


def test_letter_is_delivered_once_and_to_its_session_while_that_lives(tmp_path: Path) -> None:
    place = str(tmp_path)
    me = (os.getpid(), process_start(os.getpid()))
    for stamp, letter in enumerate(
        [Letter("mine", "s", me), Letter("other", "t", me), Letter("lost", "u", (me[0], 1)), Letter("any")]
    ):
        keep(place, letter, stamp)
    assert collect(place, "s") == ["mine", "lost", "any"]
    assert (collect(place, "s"), collect(place, "t")) == ([], ["other"])


def test_letters_that_nobody_collects_do_not_pile_up(tmp_path: Path) -> None:
    for stamp in range(25):
        keep(str(tmp_path), Letter(str(stamp)), stamp)
    (tmp_path / "undelivered" / "odd.json").write_text("{")
    assert collect(str(tmp_path), "") == [str(n) for n in range(5, 25)]


def test_agent_is_known_by_number_and_start() -> None:
    pid = os.getpid()
    assert agent_process({"CLAUDE_PID": str(pid)}) == (pid, process_start(pid))
    assert agent_process({"CLAUDE_PID": "x"}) == (0, 0)
