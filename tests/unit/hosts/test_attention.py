from __future__ import annotations

import asyncio
import io
import json
from pathlib import Path

import pytest

from forge.agent.event import HookEnded
from forge.hosts.attention import call_user, may_ring, tell_later
from unit.agent.hooks.making import engine, one, seated


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.requirement("S1-59")
@pytest.mark.parametrize(
    ("out", "env", "channel", "rings"),
    [
        (Terminal(), {}, "auto", True),
        (Terminal(), {"TERM_PROGRAM": "iTerm.app"}, "terminal_bell", True),
        (Terminal(), {"TERM_PROGRAM": "vscode"}, "auto", False),
        (Terminal(), {}, "notifications_disabled", False),
        (io.StringIO(), {}, "auto", False),
    ],
)
def test_the_bell_rings_only_where_somebody_hears_it(
    out: io.StringIO, env: dict[str, str], channel: str, rings: bool
) -> None:
    assert may_ring(out, env, channel) is rings


@pytest.mark.parametrize(("answered", "told"), [(True, False), (False, True)])
def test_hooks_hear_of_a_question_only_if_it_waits(answered: bool, told: bool, tmp_path: Path) -> None:
    made = engine(one("Notification", "cat > told.json", matcher="permission_prompt"))
    s, _ = seated(made, str(tmp_path))

    async def asked() -> None:
        timer = tell_later(s, "permission_prompt", "Claude needs your permission to use Bash", 0.0)
        if answered:
            timer.cancel()
        for _ in range(5):
            await asyncio.sleep(0)
        await asyncio.gather(*made._tasks)

    asyncio.run(asked())
    assert (tmp_path / "told.json").exists() is told


@pytest.mark.requirement("S1-60")
def test_a_notification_is_told_and_its_answer_does_not_matter(tmp_path: Path) -> None:
    made = engine(one("Notification", "cat > told.json; exit 2", matcher="idle_prompt"))
    s, host = seated(made, str(tmp_path))
    out = Terminal()

    async def called() -> None:
        call_user(s, "idle_prompt", "Waiting for you", out)
        call_user(s, "auth_success", "Logged in", out)
        await asyncio.gather(*made._tasks)

    asyncio.run(called())
    payload = json.loads((tmp_path / "told.json").read_text())
    assert (payload["notification_type"], payload["message"]) == ("idle_prompt", "Waiting for you")
    assert (out.getvalue(), [e.outcome for e in host.of(HookEnded)]) == ("\a\a", ["error"])
