from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from e2e.cli.process import forge
from unit.core.installing.workshop import Bench, shop


def shell_path(tmp_path: Path, base: Mapping[str, str]) -> dict[str, str]:
    """An environment in which `forge` is a command."""
    directory = tmp_path / "bin"
    directory.mkdir()
    program = directory / "forge"
    modules = os.pathsep.join(p for p in sys.path if p)
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{modules}" exec "{sys.executable}" -m forge "$@"\n')
    program.chmod(0o755)
    return {**base, "PATH": f"{directory}{os.pathsep}{base['PATH']}"}


def run_shell(command: list[str], tmp_path: Path, base: Mapping[str, str]) -> list[str]:
    env = shell_path(tmp_path, base)
    done = subprocess.run(
        command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=20, check=False
    )
    assert done.stderr == ""
    return done.stdout.split()


BASH = """
eval "$(forge completion bash)"
COMP_WORDBREAKS={breaks}
COMP_LINE="{line}"
COMP_POINT=${{#COMP_LINE}}
_forge_complete
printf '%s\\n' "${{COMPREPLY[@]}}"
complete -p forge
"""
USUAL, NONE = "$' \\t\\n\"@><=;|&(:'", "' '"
REGISTERED = ["complete", "-o", "default", "-F", "_forge_complete", "forge"]


@pytest.mark.requirement("S1-131")
@pytest.mark.parametrize(
    ("line", "breaks", "found"),
    [
        ("forge plug", USUAL, ["plugin"]),
        ("forge plugin en", USUAL, ["enable"]),
        ("forge plugin enable ", USUAL, ["tool@shop"]),
        ("forge plugin enable tool@s", USUAL, ["shop"]),
        ("forge plugin enable tool@s", NONE, ["tool@shop"]),
        ("forge plugin marketplace update ", USUAL, ["shop"]),
        ("forge plugin install ./sh", USUAL, []),
    ],
)
def test_bash_completes_commands_and_names(tmp_path: Path, line: str, breaks: str, found: list[str]) -> None:
    bench = Bench(tmp_path)
    bench("marketplace", "add", shop(tmp_path / "shop"))
    bench("install", "tool@shop")
    script = BASH.format(line=line, breaks=breaks)
    assert run_shell(["bash", "--norc", "-c", script], tmp_path, bench.env()) == [*found, *REGISTERED]


ZSH = """
autoload -Uz compinit && compinit -u -D
eval "$(forge completion zsh)"
whence -w _forge
print -r -- $_comps[forge]
"""


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh_accepts_the_script(tmp_path: Path) -> None:
    assert run_shell(["zsh", "-f", "-c", ZSH], tmp_path, os.environ) == ["_forge:", "function", "_forge"]


@pytest.mark.requirement("S1-130")
@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
@pytest.mark.parametrize("word", [":plugin", ":pl"])
def test_zsh_knows_the_plugin_commands_with_a_colon(tmp_path: Path, word: str) -> None:
    script = f'autoload -Uz compinit && compinit -u -D; eval "$(forge completion zsh)"; {word} list'
    said = run_shell(["zsh", "-f", "-c", script], tmp_path, os.environ)
    assert said[:3] == ["No", "plugins", "installed."]


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_fish_completes_sub_commands(tmp_path: Path) -> None:
    script = "forge completion fish | source; complete -C 'forge plug'"
    assert run_shell(["fish", "--no-config", "-c", script], tmp_path, os.environ) == ["plugin"]


def test_broken_settings_do_not_disturb_the_prompt(tmp_path: Path, home: Path) -> None:
    (home / ".claude").mkdir(parents=True)
    (home / ".claude/settings.json").write_text("{")
    (home / ".claude/plugins").mkdir()
    (home / ".claude/plugins/known_marketplaces.json").write_text("{")
    done = forge("completion", "--words", "plugin", "install", "", cwd=tmp_path)
    assert (done.code, done.out, done.err) == (0, "", "")
