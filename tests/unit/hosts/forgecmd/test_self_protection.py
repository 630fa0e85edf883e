"""What edits the guard's own rules, history, hooks or socket is dangerous; what mentions danger is not."""

from __future__ import annotations

import pytest

from forge.core.shell.analysis.policy import Policy
from forge.hosts.forgecmd.judging import assess, place

ENV = {"HOME": "/home/dev", "USER": "dev"}


def judged(command: str) -> tuple[str, str]:
    policy = Policy()
    verdict, decision = assess(command, place("/home/dev/proj", ENV, policy), policy)
    return verdict.category, decision.verdict


@pytest.mark.requirement("S2-24")
@pytest.mark.parametrize(
    "command",
    [
        "echo '{}' > ~/.forge/settings.json",
        "sed -i s/deny/allow/ .claude/settings.json",
        "cat > .claude/settings.local.json <<< '{}'",
        "cp x .claude/hooks/guard.sh",
        "echo x | tee ~/.claude/settings.json",
        "rm ~/.forge/history.db",
        "sqlite3 ~/.forge/history.db 'delete from forgecmd_history'",
        "python3 -c \"import sqlite3; sqlite3.connect('/home/dev/.forge/history.db').execute('x')\"",
        "python3 -c \"open('.claude/settings.json', 'w')\"",
        "rm -f ~/.forge/run/guard.sock",
        "ln -sf /tmp/evil.sock ~/.forge/run/guard.sock",
        "chmod 777 ~/.forge/run",
        "rm -rf ~/.forge",
        "forge config set forgecmd.mode off",
        "forge plugin disable forgecmd",
        "claude plugin uninstall forgecmd@forge-tools",
        "bash -c 'echo > ~/.forgecode/settings.json'",
    ],
)
def test_changing_the_guard_is_dangerous(command: str) -> None:
    assert judged(command) == ("dangerous", "deny")


@pytest.mark.parametrize(
    "command",
    [
        "forgecmd classify 'rm -rf /'",
        "forgecmd explain 'git push --force'",
        "forgecmd check ':(){ :|:& };:'",
        "forgecmd history --json",
        "forgecmd doctor",
        "forgecmd run -- ls -la",
        "cat ~/.forge/settings.json",
        "grep -rn 'rm -rf ~/.forge' docs",
    ],
)
def test_mentioning_danger_and_looking_at_the_guard_only_reads(command: str) -> None:
    assert judged(command)[1] == "allow"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("forgecmd run -- rm -rf /", ("forbidden", "deny")),
        ("forgecmd run --timeout 5 'git push --force'", ("dangerous", "deny")),
        ("forgecmd run --yes -- ls", ("caution", "ask")),
        ("forgecmd run --profile full ls", ("caution", "ask")),
        ("FORGE_HOME=/tmp/x forgecmd run -- ls", ("caution", "ask")),
        ("forgecmd restore --overwrite 1", ("caution", "ask")),
    ],
)
def test_forgecmd_is_no_way_around_itself(command: str, expected: tuple[str, str]) -> None:
    assert judged(command) == expected
