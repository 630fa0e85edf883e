from __future__ import annotations

from pathlib import Path

import pytest

from fakemodel import serve
from forge_run import environment, forge
from unit.core.installing.workshop import plugin, shop


@pytest.mark.requirement("S1-126")
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("/plugin", "Usage: /plugin list"),
        ("/plugin list", "❯ tool@shop"),
        ("/plugin info tool", "Source: tool@shop"),
        ("/plugin disable tool", "✔ Successfully disabled plugin: tool (scope: user)"),
        ("/plugin enable tool", '✘ Failed to enable plugin "tool": Plugin "tool" is already enabled'),
        ("/plugin reload", "Plugins are read anew at every start."),
        ("/plugin install 'a dir/mine'", "✔ Successfully installed plugin: mine@local"),
        ("/plugin install './open", "The words cannot be told apart: No closing quotation."),
        ("/plugin frobnicate", "error: unknown command 'frobnicate'"),
    ],
)
def test_sessions_understand_the_words_of_the_command_line(tmp_path: Path, line: str, said: str) -> None:
    home = tmp_path / "home"
    home.mkdir()
    plugin(tmp_path / "a dir/mine", "mine")
    with serve([]) as server:
        env = environment(home, server.url)
        forge(
            "plugin", "install", "tool", "--marketplace", str(shop(tmp_path / "shop")), cwd=tmp_path, env=env
        )
        run = forge("-p", line, cwd=tmp_path, env=env)
        assert server.requests == []
    assert (run.code, said in run.out) == (0, True)
