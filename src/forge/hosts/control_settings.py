"""Requests about settings and permission rules: reading them and changing the host's own layer."""

from __future__ import annotations

import os
from typing import Any

import msgspec

from forge.agent.hooks.lending import engine_of
from forge.agent.skills.ecosystem import DEFAULT_STYLE
from forge.foundation.environment import effective_env
from forge.foundation.origin import Scope
from forge.foundation.permissions.rule import Rule
from forge.foundation.settings import Settings, apply_flag, write_setting
from forge.foundation.settings_files import judge
from forge.foundation.settings_merge import Layer
from forge.foundation.settings_rules import permission_rules
from forge.hosts.control_seat import Refused, Request, Seat
from forge.hosts.control_session import change_options, use_model
from forge.hosts.ecosystem import use_style
from forge.hosts.model_choice import model_options

_FLAG = Scope.FLAG.wire
_NOTHING = (
    "nothing in this request was applied and earlier settings stay in force."
    " Fix or remove these invalid settings and send it again: "
)
_WRITABLE = {Scope.LOCAL.wire: "outputStyle", Scope.USER.wire: "effortLevel"}
_BEHAVIORS = ("allow", "ask", "deny")
_EDITABLE = (Scope.USER.wire, Scope.PROJECT.wire, Scope.LOCAL.wire, "session")


def get_settings(seat: Seat, request: Request) -> dict[str, Any]:
    """The settings in force, layer by layer."""
    settings, session = seat.c.settings, seat.session
    answer = {
        "effective": settings.merged,
        "sources": [{"source": scope.wire, "settings": data} for scope, data in settings.by_scope()],
        "applied": {
            "model": session.model.card.id,
            "effort": session.parts.options.effort or None,
            "outsideFileToolReadsBlocked": session.situation.block_reads_outside,
            "outsideFileToolWritesBlocked": session.situation.block_writes_outside,
        },
    }
    problems = [{"file": d.origin.path, "path": d.key, "message": d.message} for d in seat.c.diagnostics]
    return {**answer, "errors": problems} if problems else answer


def list_permission_rules(seat: Seat, request: Request) -> dict[str, Any]:
    """The rules and directories in force."""
    situation = seat.session.situation
    rows = [
        {
            "behavior": rule.behavior,
            "source": rule.source,
            "rule": rule.text,
            "editability": _editability(rule.source),
        }
        for rule in sorted(situation.rules, key=lambda rule: _BEHAVIORS.index(rule.behavior))
    ]
    added = [{"path": path, "source": "session"} for path in situation.directories[1:]]
    managed = seat.c.settings.get("allowManagedPermissionRulesOnly", False) is True
    state = {
        "rules": rows,
        "workspaceDirectories": added,
        "originalCwd": situation.start_dir,
        "managedOnly": managed,
    }
    return {"state": state}


def _editability(source: str) -> str:
    return "session" if source == "cliArg" else "editable" if source in _EDITABLE else "readonly"


def apply_flag_settings(seat: Seat, request: Request) -> None:
    """Changes top-level keys of the layer that belongs to the host; rules, model and limits follow."""
    changes = request.get("settings")
    if not isinstance(changes, dict):
        raise Refused("apply_flag_settings requires `settings` to be an object")
    if wrong := [key for key, value in changes.items() if value is not None and not _usable(key, value)]:
        raise Refused(f"apply_flag_settings: {_NOTHING}{', '.join(wrong)}")
    settings = apply_flag(seat.c.settings, changes)
    env, notes = effective_env(seat.c.env, settings, trusted=seat.c.trusted)
    known = set(map(str, seat.c.diagnostics))
    fresh = [d for d in (*settings.diagnostics, *notes) if str(d) not in known]
    seat.c = msgspec.structs.replace(
        seat.c, settings=settings, env=env, diagnostics=[*seat.c.diagnostics, *fresh]
    )
    session = seat.session
    session.parts = msgspec.structs.replace(session.parts, setting=settings.get, env=env)
    _follow_rules(seat, settings)
    if "model" in changes:
        use_model(seat, settings.get("model") if changes["model"] else None, named=False)
    elif "effortLevel" in changes or "alwaysThinkingEnabled" in changes:
        change_options(session, model_options(seat.o, seat.c, session.model.card, session.id))
    if "outputStyle" in changes:
        use_style(session, settings.get("outputStyle", "") or DEFAULT_STYLE)


def _usable(key: str, value: Any) -> bool:
    """Whether a value would not make the whole layer unusable."""
    return judge(Layer(Scope.FLAG, "apply_flag_settings", {}), {key: value})[0] is not None


def _follow_rules(seat: Seat, settings: Settings) -> None:
    """The session's rules with those of the flag layer exchanged; what the session learned stays."""
    rules, directories, _ = permission_rules(settings, trusted=seat.c.trusted)
    situation = seat.session.situation
    own: list[Rule] = [rule for rule in situation.rules if rule.source != _FLAG]
    flagged = [rule for rule in rules if rule.source == _FLAG]
    paths = [os.path.abspath(os.path.join(situation.start_dir, d)) for d in directories]
    seat.session.situation = situation.changed(
        rules=[*own, *flagged], directories=list(dict.fromkeys([*situation.directories, *paths]))
    )


def update_settings(seat: Seat, request: Request) -> dict[str, Any]:
    """Writes a setting into a file: the output style of this project, or the user's effort for a model."""
    changes = request.get("settings")
    changes = changes if isinstance(changes, dict) else {}
    allowed = _WRITABLE.get(str(request.get("source")), "")
    if refused := [key for key in changes if key != allowed]:
        raise Refused(f"update_settings keys not allowed: {', '.join(refused)}")
    for value in changes.values():
        if not isinstance(value, str):
            raise Refused(f"update_settings: {allowed} must be a string")
        if allowed == "effortLevel":
            path = ("modelSettings", seat.session.model.card.id, allowed)
            write_setting(seat.c.places, Scope.USER, path, value)
        else:
            write_setting(seat.c.places, Scope.LOCAL, allowed, value)
            use_style(seat.session, value)
    return {}


def register_repo_root(seat: Seat, request: Request) -> dict[str, Any]:
    """Adds a directory inside the working directory to the places the session may work in."""
    situation = seat.session.situation
    path = os.path.realpath(os.path.join(situation.start_dir, seat.text(request, "path")))
    if not os.path.isdir(path) or not path.startswith(os.path.realpath(situation.start_dir) + os.sep):
        raise Refused("register_repo_root: target path could not be resolved")
    if path in situation.directories:
        raise Refused("register_repo_root: the directory is registered already")
    seat.session.situation = situation.changed(directories=[*situation.directories, path])
    if (engine := engine_of(seat.session)) is not None:
        engine.announce("DirectoryAdded", directory=path, source="register_repo_root")
    return {}
