from __future__ import annotations

import pytest

from forge.core.shell.analysis.decide import DENY
from forge.core.shell.guard.judging import Judging, Where
from forge.core.shell.guard.setup import Source
from forge.core.shell.guard.visible import forbidden_words, raw_commands

WHERE = Where("/home/dev/proj", "/home/dev", ["/home/dev/proj"], {})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("rm -rf / $(", "deletes a whole tree"),
        ("rm -f -r ~ $(", "deletes a whole tree"),
        ("rm --recursive --force /etc $(", "deletes a whole tree"),
        ('rm -rf "$HOME" $(', "deletes a whole tree"),
        ("mkfs.ext4 x $(", "destroys a file system"),
        ("dd if=x of=/dev/sda $(", "writes to a disk"),
        ("cat x >/dev/nvme0n1 $(", "writes to a disk"),
        (":(){ :|:& };: $(", "a fork bomb"),
        ("kill -9 -1 $(", "ends every process"),
        ("echo x > /etc/passwd $(", "overwrites an account file"),
        ("rm -rf build $(", ""),
        ("rm -rf /tmp/x $(", ""),
        ("kill -9 123 $(", ""),
        ("echo x > /dev/null $(", ""),
    ],
)
def test_forbidden_words_are_seen_without_understanding(text: str, reason: str) -> None:
    assert forbidden_words(text) == reason


def test_what_cannot_be_analysed_is_denied_if_it_shows_something_forbidden() -> None:
    text = "ls \x07; rm -rf /"
    assessed = Judging().assess(text, WHERE, {})
    assert (assessed.forbidden, assessed.decision.verdict) == (True, DENY)


@pytest.mark.requirement("S2-16")
def test_deny_rules_hold_for_the_words_of_what_cannot_be_analysed() -> None:
    rules = {"rules": {"deny": [{"pattern": "terraform *", "reason": "not here"}]}}
    judging = Judging([Source("settings.json", rules)])
    found = [judging.assess(text, WHERE, {}).decision for text in ("x \x07; terraform apply", "x \x07; ls")]
    assert [(d.verdict, d.reason == "not here") for d in found] == [("deny", True), ("ask", False)]


def test_words_are_split_at_separators() -> None:
    assert raw_commands("a 'b' && (c\nd) | `e`") == [["a", "b"], ["c"], ["d"], ["e"]]


@pytest.mark.requirement("S2-16")
def test_when_time_runs_out_it_is_asked_and_what_is_visible_is_refused() -> None:
    rules = {"rules": {"deny": [{"pattern": "terraform *"}], "allow": [{"pattern": "make *"}]}}
    judging = Judging([Source("settings.json", rules)], seconds=-1.0)
    commands = ["ls", "make all", "ls; terraform apply", "ls; rm -rf /"]
    found = [judging.assess(command, WHERE, {}).decision.verdict for command in commands]
    assert found == ["ask", "ask", "deny", "deny"]
