from __future__ import annotations

from typing import Any

import pytest

from forge.agent.event import LocalOutput, Restarted
from forge.hosts.wire_local import answered, restarted


def user(content: str, uuid: str, **fields: Any) -> dict[str, Any]:
    return {"type": "user", "content": content, "uuid": uuid, **fields}


def assistant(message: dict[str, Any], uuid: str) -> dict[str, Any]:
    return {"type": "assistant", "said": message["content"], "model": message["model"], "uuid": uuid}


SAID = {"type": "assistant", "said": [{"type": "text", "text": "so"}], "model": "<synthetic>", "uuid": "u"}


@pytest.mark.parametrize(
    ("event", "record"),
    [
        (
            LocalOutput("u", "Compacted "),
            user("<local-command-stdout>Compacted </local-command-stdout>", "u", isReplay=True),
        ),
        (
            LocalOutput("u", "so", "model", "haiku"),
            {
                **SAID,
                "local_command_source": "<local-command-stdout>so</local-command-stdout>",
                "local_command_run": {"command": "model", "args": "haiku"},
            },
        ),
        (
            LocalOutput("u", "so", "compact", "", failed=True),
            {
                **SAID,
                "local_command_source": "<local-command-stderr>so</local-command-stderr>",
                "local_command_run": {"command": "compact", "args": ""},
                "local_command_outcome": {"kind": "failed"},
            },
        ),
    ],
)
def test_what_a_local_command_says_is_an_answer(event: LocalOutput, record: dict[str, Any]) -> None:
    assert answered(event, user, assistant) == [record]


def test_a_new_beginning_is_the_last_the_old_session_says() -> None:
    assert restarted(Restarted("u", "new", "prompt"), "old", "now") == [
        {
            "type": "conversation_reset",
            "new_conversation_id": "new",
            "trigger": "clear",
            "user_message_uuid": "prompt",
            "timestamp": "now",
            "session_id": "old",
            "uuid": "u",
        },
    ]
