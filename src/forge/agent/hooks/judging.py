"""Runs a prompt hook: one request to the model, which answers with yes or no and a reason."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from forge.agent.hooks.answer import Run
from forge.agent.hooks.hook import Hook
from forge.agent.hooks.output import Output
from forge.agent.hooks.payload import encoded
from forge.agent.hooks.run import Firing
from forge.agent.ledger import charge_aside
from forge.agent.session import Session
from forge.agent.texts.load import text
from forge.core.message import Message, Text
from forge.core.model import Finished, Model, Request, closing
from forge.foundation.encode import NOT_JSON
from forge.foundation.errors import ForgeError

_OBJECT = re.compile(r"\{.*\}", re.DOTALL)
_ENDS = ("Stop", "SubagentStop")


class Judgement(msgspec.Struct, frozen=True):
    """What the model says; `impossible`: no further work can meet the condition."""

    ok: bool
    reason: str = ""
    impossible: bool = False


async def run(firing: Firing, hook: Hook) -> Run:
    """The model's judgement; an answer that is none is a failure."""
    s = firing.session
    asked = question(hook, firing.payload)
    history = list(s.messages) if hook.event in _ENDS else []
    try:
        said = await _ask(s, str(hook.fields.get("model", "")), history, asked)
    except ForgeError as error:
        return Run(hook, None, failure=str(error))
    judgement = read_judgement(said)
    if judgement is None:
        return Run(hook, None, failure=f"The model gave no judgement: {said[:200]}")
    return verdict(hook, judgement)


def question(hook: Hook, payload: dict[str, Any]) -> str:
    """The prompt with the payload in its place, or behind it."""
    prompt, facts = str(hook.fields["prompt"]), encoded(payload).decode().strip()
    return prompt.replace("$ARGUMENTS", facts) if "$ARGUMENTS" in prompt else f"{prompt}\n\n{facts}"


def read_judgement(said: str) -> Judgement | None:
    """The judgement in an answer, which may have words around it."""
    found = _OBJECT.search(said)
    try:
        return msgspec.json.decode(found[0], type=Judgement) if found else None
    except NOT_JSON:
        return None


def verdict(hook: Hook, judgement: Judgement) -> Run:
    """A judgement as the run of a hook: no is a block, and where nothing else was asked for, an end."""
    if judgement.ok:
        return Run(hook)
    reason = judgement.reason or "The condition was not met"
    ends = Output(continue_=False, stop_reason=reason)
    if hook.event in _ENDS:
        return Run(hook) if judgement.impossible else Run(hook, 2, stderr=reason)
    if hook.event in ("UserPromptSubmit", "UserPromptExpansion"):
        return Run(hook, output=ends)
    if hook.fields.get("continueOnBlock"):
        return Run(hook, 2, stderr=reason)
    return Run(hook, 2, stderr=reason, output=ends)


async def _ask(s: Session, name: str, history: list[Message], asked: str) -> str:
    model: Model = s.parts.open_model(name) if name and s.parts.open_model is not None else s.model
    messages = [*history, Message("user", [Text(asked)])]
    options = msgspec.structs.replace(s.parts.options, thinking="disabled", effort="")
    request = Request(model.card.id, [text("hook_judge")], messages, [], options)
    finished: Finished | None = None
    try:
        async with closing(model.stream(request)) as deltas:
            async for delta in deltas:
                if isinstance(delta, Finished):
                    finished = delta
    finally:
        if model is not s.model:
            await model.close()
    if finished is None:
        return ""
    charge_aside(s.ledger, s.recorder, model.card, finished.usage)
    return finished.message.text
