"""What the payload of every event says of the session it happens in."""

from __future__ import annotations

from typing import Any

from forge.agent.hooks.engine import Engine
from forge.agent.hooks.payload import Standing
from forge.agent.hooks.state import HookState
from forge.agent.session import Session
from forge.agent.team.crew import Seat


def standing_of(engine: Engine, s: Session, own: dict[str, Any]) -> Standing:
    """The common fields; `agent_id` and `agent_type` of a sub-agent are taken out of `own`."""
    main = engine.session or s
    state = main.keep(HookState)
    agent_id = str(own.pop("agent_id", "") or s.keep(Seat).agent_id)
    agent_type = str(own.pop("agent_type", "") or ("" if agent_id else state.agent_type))
    transcript = main.recorder.transcript
    return Standing(
        session_id=main.id,
        transcript_path=transcript.path if transcript is not None else "",
        cwd=s.situation.cwd,
        prompt_id=state.prompt_id,
        permission_mode=s.situation.mode,
        agent_id=agent_id,
        agent_type=agent_type,
        effort=effort_of(s),
    )


def effort_of(s: Session) -> str:
    """The effort the model is asked for, if it has such a thing."""
    card = s.model.card
    return (s.parts.options.effort or card.effort) if card.effort else ""
