"""What a skill allows, forbids or prefers, for the rest of the turn in which it was used."""

from __future__ import annotations

import msgspec

from forge.agent.hooks.lending import skill_hooks
from forge.agent.session import Session
from forge.agent.skills.granted import Granted
from forge.core.components.kinds import Skill
from forge.core.components.render import Surroundings, allowed_tools
from forge.core.registry import Component
from forge.foundation.errors import ForgeError
from forge.foundation.permissions.rule import TURN, Rule, parse_rule


def grant(s: Session, found: Component[Skill], *, typed: bool) -> None:
    """Puts the wishes of a skill in force; another model is only for what the user typed."""
    skill = found.value
    _add_rules(s, rules_of(s, skill))
    if skill.effort:
        _use_effort(s, skill.effort)
    if typed and skill.model:
        _use_model(s, skill.model)
    granted = s.keep(Granted)
    # Those of a forked skill are in force only while its sub-agent works.
    if skill.hooks and not skill.fork and found.origin.path not in granted.hooked:
        granted.hooked.add(found.origin.path)
        skill_hooks(s, skill, found.origin)


def rules_of(s: Session, skill: Skill) -> list[Rule]:
    """The rules a skill asks for; those that cannot be read are reported."""
    rules: list[Rule] = []
    where = around(s)
    for behavior, texts in (("allow", allowed_tools(skill, where)), ("deny", skill.disallowed_tools)):
        for text in texts:
            rule = parse_rule(text, behavior, TURN, s.situation.start_dir)
            if isinstance(rule, str):
                s.warn(f"Ignoring the {behavior} rule of the skill {skill.name}: {rule}")
            else:
                rules.append(rule)
    return rules


def around(s: Session) -> Surroundings:
    """What variables in the texts of a session refer to."""
    return Surroundings(s.id, s.situation.start_dir, s.parts.options.effort or "medium")


def _add_rules(s: Session, rules: list[Rule]) -> None:
    if not rules:
        return
    s.situation = s.situation.changed(rules=[*s.situation.rules, *rules])

    async def undo() -> None:
        kept = [r for r in s.situation.rules if not any(r is rule for rule in rules)]
        s.situation = s.situation.changed(rules=kept)

    s.keep(Granted).undo.append(undo)


def _use_effort(s: Session, effort: str) -> None:
    before = s.parts.options.effort
    s.parts = msgspec.structs.replace(
        s.parts, options=msgspec.structs.replace(s.parts.options, effort=effort)
    )

    async def undo() -> None:
        options = msgspec.structs.replace(s.parts.options, effort=before)
        s.parts = msgspec.structs.replace(s.parts, options=options)

    s.keep(Granted).undo.append(undo)


def _use_model(s: Session, name: str) -> None:
    before, opened = s.model, s.parts.open_model
    if opened is None or name in (before.card.id, before.card.ref):
        return
    try:
        model = opened(name)
    except ForgeError as error:
        s.warn(f"The model {name!r} of the skill cannot be used: {error}")
        return
    s.model = model

    async def undo() -> None:
        if s.model is model:
            s.model = before
        await model.close()

    s.keep(Granted).undo.append(undo)
