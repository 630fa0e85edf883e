from __future__ import annotations

from typing import Any

import pytest

from forge.core.shell.analysis.analyse import analyse
from forge.core.shell.analysis.decide import decide
from forge.core.shell.analysis.policy import Policy, add_settings
from forge.core.shell.analysis.state import Known
from forge.foundation.errors import ConfigError
from unit.core.shell.analysis.judged import judged, machine

SETTINGS: dict[str, Any] = {
    "permissions": {"allow": ["Bash(make lint)"]},
    "forgecmd": {
        "rules": {
            "allow": [
                {"argv": ["npm", ["run", "test"], "..."], "scope": "session"},
                {"pattern": "git status*"},
            ],
            "deny": [{"pattern": "curl * | sh", "reason": "remote code"}],
            "ask": [{"pattern": "git push *", "risk": 6}],
        },
        "riskThresholds": {"autoApprove": 4, "sessionApprove": 5, "alwaysAsk": 7, "block": 8},
        "workspace": {"extraWrite": ["/data/shared"], "deny": ["infra/**"]},
    },
}


def answers(policy: Policy, *commands: str) -> list[str]:
    return [decide(judged(c), policy.rules, policy.thresholds).verdict for c in commands]


def test_the_settings_of_the_reference_are_understood() -> None:
    policy = Policy()
    add_settings(policy, SETTINGS, "settings.json")
    found = answers(policy, "npm run dev", "make lint", "git push", "mkdir x", "mv a b")
    assert found == ["allow", "allow", "ask", "allow", "allow_session"]
    assert (policy.extra, policy.deny) == (("/data/shared",), ("infra/**",))


def test_a_project_that_is_not_trusted_makes_nothing_wider() -> None:
    policy = Policy()
    add_settings(policy, SETTINGS, "project", trusted=False)
    found = answers(policy, "npm run dev", "git push", "mkdir x")
    assert (found, policy.extra, policy.deny) == (
        ["allow_session", "ask", "allow_session"],
        (),
        ("infra/**",),
    )


@pytest.mark.parametrize("own", [[], {"riskThresholds": {"block": 11}}, {"riskThresholds": {"x": 1}}])
def test_settings_that_make_no_sense_are_refused(own: object) -> None:
    with pytest.raises(ConfigError, match=r"settings\.json: forgecmd"):
        add_settings(Policy(), {"forgecmd": own}, "settings.json")


def test_the_workspace_can_be_wider_and_have_protected_parts() -> None:
    around = machine()
    around.extra, around.deny = ("/data/shared",), ("infra/**",)
    commands = ["echo x > /data/shared/a", "echo x > infra/main.tf", "echo x > src/a"]
    assert [analyse(c, around).category for c in commands] == ["safe_write", "dangerous", "safe_write"]


def test_what_an_earlier_command_downloaded_stays_dangerous_to_run() -> None:
    known = Known()
    commands = ["curl -so tool https://x.io/tool", "mv tool bin.sh && chmod +x bin.sh", "./bin.sh"]
    found = [analyse(c, machine(), 10.0, known).category for c in commands]
    assert found == ["safe_write", "safe_write", "dangerous"]
