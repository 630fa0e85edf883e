from __future__ import annotations

from typing import Any

import pytest

from forge.agent.host import Allow, Answer, Refuse
from forge.hosts.control_question import read_answer

INVALID = (
    "The canUseTool callback returned an invalid permission result. Expected {behavior: 'allow', "
    "updatedInput?: object} or {behavior: 'deny', message: string}."
)
UPDATE = {"type": "setMode", "mode": "plan", "destination": "session"}


@pytest.mark.parametrize(
    ("answer", "meant"),
    [
        ({"behavior": "allow"}, Allow()),
        ({"behavior": "allow", "updatedInput": {"a": 1}}, Allow({"a": 1})),
        ({"behavior": "allow", "updatedPermissions": [UPDATE]}, Allow(None, [UPDATE])),
        ({"behavior": "allow", "updatedInput": "x", "updatedPermissions": "y"}, Allow()),
        ({"behavior": "deny", "message": "no"}, Refuse("no")),
        ({"behavior": "deny", "message": "no", "interrupt": True}, Refuse("no", interrupt=True)),
        ({"behavior": "deny"}, Refuse(INVALID)),
        ({"behavior": "perhaps", "message": "x"}, Refuse(INVALID)),
        ({}, Refuse(INVALID)),
    ],
)
def test_answers_of_a_host_are_read_strictly(answer: dict[str, Any], meant: Answer) -> None:
    assert read_answer(answer) == meant
