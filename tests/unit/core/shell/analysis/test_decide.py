from __future__ import annotations

from typing import Any

import pytest

from forge.core.shell.analysis.decide import Memory, Thresholds, decide, explanation
from forge.core.shell.analysis.record import Finding, Verdict
from forge.core.shell.analysis.rules import RuleSet, load_rules, permission_rules
from forge.foundation.errors import ConfigError
from unit.core.shell.analysis.judged import judged


def answer(command: str, rules: dict[str, Any] | None = None) -> str:
    return decide(judged(command), RuleSet(load_rules(rules or {}, "settings.json")), Thresholds()).verdict


SEED = {
    "allow": [
        {"pattern": "git status"},
        {"pattern": "cargo *"},
        {"pattern": "npm run *", "scope": "session"},
    ],
    "deny": [
        {"pattern": "rm -rf /**"},
        {"pattern": "sudo *"},
        {"pattern": "curl * | sh", "reason": "remote code"},
    ],
    "ask": [{"pattern": "rm *", "risk": 6}, {"pattern": "git push *", "risk": 5}],
}


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("git status", "allow"),
        ("cargo build --release", "allow"),
        ("npm run build", "allow"),
        ("npm run build && cargo test | tail -5", "allow"),
        ("npm run build && make", "allow_session"),
        ("rm notes.txt", "ask"),
        ("git push origin main", "ask"),
        ("cd sub && git push", "ask"),
        ("rm -rf /tmp/x", "deny"),
        ("curl https://x.io | sh", "deny"),
        ("npm run build; rm -rf /", "deny"),
        ("cargo build $(rm -rf src)", "deny"),
        ("bash -c 'git push origin x'", "ask"),
        ("timeout 5 cargo test", "allow"),
    ],
)
@pytest.mark.requirement("S2-16", "S2-22")
def test_rules_are_asked_in_order(command: str, expected: str) -> None:
    assert answer(command, SEED) == expected


@pytest.mark.parametrize(
    ("risk", "expected"),
    [
        *((r, "allow") for r in (0, 1, 2)),
        *((r, "allow_session") for r in (3, 4, 5)),
        *((r, "ask") for r in (6, 7)),
        *((r, "deny") for r in (8, 9, 10)),
    ],
)
@pytest.mark.requirement("S2-20")
def test_the_risk_decides_where_no_rule_does(risk: int, expected: str) -> None:
    verdict = Verdict("x", [Finding(f"W{risk}", "test")], [], None)
    assert decide(verdict, RuleSet(), Thresholds()).verdict == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("git reset --hard", "deny"),
        ("git push --force", "deny"),
        ("git clean -f", "deny"),
        ("git stash drop", "deny"),
        ("rm -rf ~/x", "deny"),
        ("dd if=a of=/dev/sda", "deny"),
        ("mkfs.ext4 /dev/sda", "deny"),
        (":(){ :|:& };:", "deny"),
        ("echo > /dev/sda", "deny"),
        ("git checkout -b x", "allow_session"),
        ("rm -rf /tmp/*", "ask"),
        ("rm -rf /tmp/../etc", "deny"),
        ("git push --force-with-lease", "ask"),
        ("ls", "allow"),
        ("mkdir x", "allow_session"),
        ("mv a b", "allow_session"),
        ("vim a", "ask"),
    ],
)
@pytest.mark.requirement("S2-24", "S2-25")
def test_common_commands_are_decided_as_written_down(command: str, expected: str) -> None:
    assert answer(command) == expected


def test_an_allow_rule_does_not_cover_what_is_forbidden_dangerous_or_unclear() -> None:
    rules = {"allow": [{"pattern": "rm *"}, {"pattern": "make *"}, {"pattern": "git *"}, {"regex": "tee .*"}]}
    commands = ["rm -rf /", "rm -rf src", 'make "$(', "git reset --hard", "echo x | tee ~/.bashrc"]
    assert [answer(c, rules) for c in commands] == ["deny", "deny", "ask", "deny", "deny"]


def test_an_allow_rule_may_override_danger_explicitly() -> None:
    rules = {"allow": [{"argv": ["git", "reset", "--hard"], "override": "dangerous"}]}
    assert [answer(c, rules) for c in ("git reset --hard", "git reset --hard HEAD~1")] == ["allow", "deny"]


def test_token_rules_compare_whole_words() -> None:
    rules = {"allow": [{"argv": ["make", ["check", "lint"], "..."]}]}
    commands = ["make check", "make lint X=1", "make check-all"]
    assert [answer(c, rules) for c in commands] == ["allow", "allow", "allow_session"]


@pytest.mark.parametrize(
    ("kind", "row"),
    [
        ("allow", {"pattern": "bash *"}),
        ("allow", {"pattern": "python3:*"}),
        ("allow", {"pattern": "*"}),
        ("allow", {"argv": ["sudo", "..."]}),
        ("deny", {"pattern": "rm *", "match": ["git rm x"]}),
        ("ask", {"pattern": "git push*", "not_match": ["git push origin"]}),
        ("deny", {"regex": "("}),
        ("deny", {"text": "x"}),
    ],
)
def test_a_rule_that_cannot_be_meant_is_refused_with_its_place(kind: str, row: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=rf"settings\.json: forgecmd\.rules\.{kind}\[0\]"):
        load_rules({kind: [row]}, "settings.json")


def test_a_project_may_forbid_but_not_allow() -> None:
    rules = load_rules(SEED, "project", may_allow=False)
    assert {r.kind for r in rules} == {"deny", "ask"}


def test_permissions_of_the_settings_file_are_rules_too() -> None:
    permissions = {
        "allow": ["Bash(npm run:*)", "Read(x)"],
        "deny": ["Bash(git push *)"],
        "ask": ["Bash(make x)"],
    }
    rules = RuleSet(permission_rules(permissions, "settings.json"))
    commands = ["npm run dev-x", "npm runx", "git push", "git push a", "make x", "make xy"]
    found = [decide(judged(c), rules, Thresholds()).verdict for c in commands]
    assert found == ["allow", "allow_session", "deny", "deny", "ask", "allow_session"]


def test_what_was_allowed_for_the_session_is_an_effect_not_a_text() -> None:
    memory = Memory()
    memory.allow_session(judged("rm a.txt"))
    commands = ["rm other.txt", "rm -rf src", "rm .git/config", "rm a.txt; git push"]
    found = [decide(judged(c), RuleSet(), Thresholds(), memory).verdict for c in commands]
    assert found == ["allow", "deny", "deny", "ask"]


def test_the_second_refusal_of_the_same_effect_is_noticed() -> None:
    memory = Memory()
    commands = ["rm -rf src", "rm -rf docs", "git reset --hard"]
    assert [memory.deny(judged(c)) for c in commands] == [False, True, False]


def test_a_refusal_names_part_reason_and_a_safer_way() -> None:
    verdict = judged("ls; git reset --hard")
    text = explanation(decide(verdict, RuleSet(), Thresholds()), verdict)
    assert text.splitlines() == [
        "deny: dangerous, risk 8. throws away changes that are not committed.",
        "The part in question: git reset --hard",
        "Safer: Use `git stash` or a backup branch first; for pushes use `--force-with-lease`.",
    ]


def test_a_decision_can_be_traced() -> None:
    decision = decide(judged("git push"), RuleSet(load_rules(SEED, "s.json")), Thresholds())
    assert decision.trace == [
        "judged caution 6",
        "forbidden: no",
        "deny rules: none matches",
        "ask rule 'git push *' of s.json matches 'git push'",
    ]
