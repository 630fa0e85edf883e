from __future__ import annotations

import asyncio
import io
import json
from pathlib import Path

import pytest

from forge.agent.event import HookEnded
from forge.hosts.attention import call_user, may_ring
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
