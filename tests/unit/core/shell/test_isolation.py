from __future__ import annotations

import os
from pathlib import Path

import pytest

from forge.core.shell.isolation import (
    Filtered,
    carry_exports,
    filter_environment,
    next_directory,
    quiet_variables,
    safe_path,
    snapshot,
)
from unit.foundation.secret_kinds import KINDS, seeded

HARMLESS = {
    "PATH": "/bin", "HOME": "/home/x", "LANG": "C", "LC_ALL": "C", "TERM": "xterm", "TZ": "UTC", "CI": "1",
    "XDG_CACHE_HOME": "/c", "GOPATH": "/go", "VIRTUAL_ENV": "/v", "JAVA_HOME": "/j", "NODE_ENV": "test",
    "http_proxy": "http://proxy:80", "GIT_AUTHOR_NAME": "x", "CFLAGS": "-O2",
}  # fmt: skip
SECRET = (
    "API_KEY", "my_token", "DB_PASSWORD", "AWS_REGION", "GITHUB_ACTIONS", "OPENAI_BASE_URL", "DATABASE_URL",
    "SENTRY_DSN", "SESSION_COOKIE", "NPM_AUTH", "SSH_PRIVATE", "GH_HOST", "MYSQL_PWD",
)  # fmt: skip
LOADING = (
    "LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "BASH_ENV", "ENV", "SHELLOPTS",
    "PROMPT_COMMAND", "PS4", "BASH_FUNC_x%%", "PERL5OPT", "RUBYOPT", "NODE_OPTIONS", "PYTHONSTARTUP",
    "GIT_CONFIG_COUNT", "GIT_SSH_COMMAND", "LESSOPEN", "GCONV_PATH", "JAVA_TOOL_OPTIONS",
)  # fmt: skip


@pytest.mark.requirement("S2-05", "S2-39")
def test_only_harmless_variables_reach_a_command() -> None:
    env = HARMLESS | dict.fromkeys(SECRET, "value of it") | dict.fromkeys(LOADING, "x") | {"SOMETHING": "x"}
    removed = tuple(sorted((*SECRET, *LOADING, "SOMETHING")))
    assert filter_environment(env) == Filtered(HARMLESS, removed, ("value of it",))


@pytest.mark.parametrize("kind", KINDS)
def test_a_harmless_name_does_not_let_a_secret_through(kind: str) -> None:
    text, _ = seeded(kind)
    assert filter_environment({"EDITOR": text}) == Filtered({}, ("EDITOR",), (text,))


def test_the_user_may_allow_a_secret_but_nothing_that_loads_code() -> None:
    env = {"API_KEY": "abc", "LD_PRELOAD": "x"}
    allowed = filter_environment(env, allow=["api_key", "LD_PRELOAD"])
    assert allowed == Filtered({"API_KEY": "abc"}, ("LD_PRELOAD",), ("abc",))


def test_exports_are_carried_over_without_what_loads_code() -> None:
    assert carry_exports({"A": "1"}, {"A": "2", "B": "3", "LD_PRELOAD": "x", "NODE_OPTIONS": "y"}) == {
        "A": "2",
        "B": "3",
    }
    assert carry_exports({"A": "1"}, None) == {"A": "1"}


def test_programs_are_told_not_to_page_or_ask() -> None:
    pipes, terminal = quiet_variables(terminal=False), quiet_variables(terminal=True)
    assert (pipes["TERM"], pipes["PAGER"], pipes["NO_COLOR"]) == ("dumb", "cat", "1")
    assert (terminal["TERM"], "NO_COLOR" in terminal) == ("xterm-256color", False)


def test_programs_of_the_workspace_do_not_win(tmp_path: Path) -> None:
    workspace, system = tmp_path / "workspace", tmp_path / "bin"
    for directory in (workspace / "bin", system):
        directory.mkdir(parents=True)
        (directory / "git").touch(mode=0o755)
    (tmp_path / "link").symlink_to(workspace / "bin")
    path = os.pathsep.join([str(workspace / "bin"), ".", "", "bin", str(tmp_path / "link"), str(system)])
    assert safe_path(path, str(workspace)) == str(system)
    trusted = safe_path(path, str(workspace), trusted=[str(workspace / "bin")])
    assert trusted.split(os.pathsep)[0] == str(workspace / "bin")


@pytest.mark.requirement("S2-35")
def test_a_snapshot_has_names_and_no_values() -> None:
    taken = snapshot({"B": "value", "A": "value"})
    assert list(taken) == ["A", "B"] and taken["A"] == taken["B"] and "value" not in str(taken)


@pytest.mark.requirement("S2-39")
def test_a_command_that_leaves_the_workspace_does_not_take_the_next_with_it() -> None:
    note = "The working directory was reset to /w/a: /etc is outside of the workspace."
    assert next_directory("/w/b", "/w/a", ["/w"]) == ("/w/b", "")
    assert next_directory("/etc", "/w/a", ["/w"]) == ("/w/a", note)
