from __future__ import annotations

import pytest

from forge.core.shell.guard.profiles import profile_for
from unit.core.shell.analysis.judged import judged


@pytest.mark.requirement("S2-40")
@pytest.mark.parametrize(
    ("profile", "commands"),
    [
        ("read", ["ls -la", "git status", "grep -rn x src | wc -l", "cat a && git log"]),
        ("workspace", ["mkdir x", "npm test", "make", "echo a > b", "python3 x.py", "git commit -m x"]),
        (
            "build",
            ["npm ci", "git fetch", "curl https://x.io/", "cargo build", "pip install -r r.txt", "yarn"],
        ),
        ("full", ["docker ps", "gh pr list", "rm a.txt", "git push", "npm install x", "ssh host ls"]),
    ],
)
def test_a_command_gets_the_narrowest_sandbox_in_which_it_can_work(profile: str, commands: list[str]) -> None:
    assert [profile_for(judged(c)) for c in commands] == [profile] * len(commands)
