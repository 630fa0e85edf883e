"""`forge config`: shows settings with their origin, and changes single keys in the file of a scope."""

from __future__ import annotations

import os
import sys
from typing import Any

import msgspec

from forge.foundation.errors import UsageError
from forge.foundation.origin import Origin, Scope, Severity
from forge.foundation.paths import settings_file
from forge.foundation.suggest import closest
from forge.hosts.cli.command import (
    JSON,
    NO_COLOR,
    Arguments,
    Command,
    print_json,
    read_arguments,
    take_words,
    unknown_word,
)
from forge.hosts.cli.config_change import join_key, known_key, set_key, split_key, unset_key
from forge.hosts.cli.flags import SWITCH, Flag
from forge.hosts.cli.masking import masked
from forge.hosts.cli.parse import CommandLine
from forge.hosts.cli.screen import Screen, open_screen
from forge.hosts.configuration import Configuration, load_configuration
from forge.hosts.options import read_options

ACTIONS = ("list", "get", "set", "unset", "path")

COMMAND = Command(
    name="config",
    usage=(
        "config list [--show-origin] [--json]",
        "config get KEY [--json]",
        "config set KEY VALUE [--user | --project | --local]",
        "config unset KEY [--user | --project | --local]",
        "config path [--json]",
    ),
    about=(
        "Shows the settings in effect and changes single keys. A KEY is written with dots, like "
        "permissions.defaultMode; put a part that has dots itself in double quotes. A VALUE is JSON, or "
        "plain text where text is expected. Values that look like secrets are never shown."
    ),
    flags=(
        Flag("--show-origin", SWITCH, "", "list: say which file each value comes from"),
        Flag("--user", SWITCH, "", "set, unset: in your own settings, for all projects (the default)"),
        Flag("--project", SWITCH, "", "set, unset: in the settings of this directory, shared by its users"),
        Flag("--local", SWITCH, "", "set, unset: in your personal settings of this repository"),
        Flag("--force", SWITCH, "", "set: write a key that Forge does not know"),
        JSON,
        NO_COLOR,
    ),
    examples=(
        ("forge config list --show-origin", "what is in effect, and why"),
        ("forge config set model sonnet", "use this model from now on"),
        ("forge config set permissions.allow '[\"Bash(make *)\"]' --project", "for everyone in this project"),
        ("forge config unset model", "go back to the default"),
    ),
)


def run(line: CommandLine, env: dict[str, str]) -> int:
    """Runs one action of the command."""
    given = read_arguments(COMMAND, line)
    if given is None:
        return 0
    action = given.words[0] if given.words else "list"
    if action not in ACTIONS:
        raise unknown_word(COMMAND, action, ACTIONS)
    screen = open_screen(env, plain=given.on("no_color"))
    c = load_configuration(read_options(line), env, os.getcwd())
    rest = msgspec.structs.replace(given, words=given.words[1:])
    return {"list": _list, "get": _get, "set": _set, "unset": _unset, "path": _path}[action](c, rest, screen)


def _list(c: Configuration, given: Arguments, screen: Screen) -> int:
    take_words(COMMAND, given.words, ())
    rows = [
        (path, masked(value, path), c.settings.origins(path)) for path, value in leaves(c.settings.merged)
    ]
    if given.on("json"):
        print_json([_row(*row) for row in rows])
        return 0
    for path, value, origins in rows:
        key = screen.paint(join_key(path), "bold")
        screen.line(f"{key} = {_json(value)}")
        if given.on("show_origin"):
            for origin in origins:
                screen.line(f"    {describe(origin)}", "dim")
    if not rows:
        screen.line("Nothing is set; every setting has its default value.", "dim")
    _complain(c)
    return 0


def _get(c: Configuration, given: Arguments, screen: Screen) -> int:
    (key,) = take_words(COMMAND, given.words, ("KEY",))
    path = split_key(key)
    value = c.settings.get(path, msgspec.UNSET)
    if value is msgspec.UNSET:
        _complain(c)
        sys.stderr.write(f"{key} is not set.{_guess(path, c)}\n")
        return 1
    shown = masked(value, path)
    if given.on("json"):
        print_json(_row(path, shown, c.settings.origins(path)))
    else:
        screen.line(shown if isinstance(shown, str) else _json(shown))
    return 0


def _set(c: Configuration, given: Arguments, screen: Screen) -> int:
    key, text = take_words(COMMAND, given.words, ("KEY", "VALUE"))
    path, scope = split_key(key), _scope(given)
    if not given.on("force"):
        known_key(path)
    file, changed = set_key(c.places, scope, path, text, c.settings.layers)
    screen.line(f"{'Written to' if changed else 'Already so in'} {file} ({scope.value} settings).")
    _tell_overruled(c, path, Origin(scope, file), screen)
    return 0


def _unset(c: Configuration, given: Arguments, screen: Screen) -> int:
    (key,) = take_words(COMMAND, given.words, ("KEY",))
    path, scope = split_key(key), _scope(given)
    file, changed = unset_key(c.places, scope, path)
    others = [origin for origin in c.settings.origins(path) if origin.path != file]
    if changed:
        screen.line(f"Removed from {file} ({scope.value} settings).")
    else:
        sys.stderr.write(f"{key} is not set in {file} ({scope.value} settings).\n")
    for origin in others:
        screen.line(f"It is set in {describe(origin)}.", "dim")
    return 0 if changed else 1


def _path(c: Configuration, given: Arguments, screen: Screen) -> int:
    take_words(COMMAND, given.words, ())
    read = [(la.scope.value, la.path) for la in c.settings.layers]
    written = [(s.value, settings_file(c.places, s)) for s in (Scope.USER, Scope.PROJECT, Scope.LOCAL)]
    if given.on("json"):
        print_json({"read": [_place(*r) for r in read], "written": [_place(*w) for w in written]})
        return 0
    screen.line("Read, the weakest first:", "bold")
    screen.table(read or [("", "no settings files were found")])
    screen.line("Written by `forge config set`:", "bold")
    screen.table([(f"--{scope}", path) for scope, path in written])
    _complain(c)
    return 0


def leaves(value: dict[str, Any], path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Any]]:
    """Every value that is not itself an object of settings, with the keys that lead to it."""
    found: list[tuple[tuple[str, ...], Any]] = []
    for key, each in value.items():
        if isinstance(each, dict) and each:
            found += leaves(each, (*path, key))
        else:
            found.append(((*path, key), each))
    return found


def describe(origin: Origin) -> str:
    """File and scope of a value."""
    return f"{origin} ({origin.scope.value})"


def _scope(given: Arguments) -> Scope:
    named = [scope for scope in (Scope.USER, Scope.PROJECT, Scope.LOCAL) if given.on(scope.value)]
    if len(named) > 1:
        raise UsageError("Only one of --user, --project and --local can be meant.")
    return named[0] if named else Scope.USER


def _tell_overruled(c: Configuration, path: tuple[str, ...], written: Origin, screen: Screen) -> None:
    """Says it when a stronger file has the last word about the key."""
    order = [Scope.USER, Scope.PROJECT, Scope.LOCAL, Scope.FLAG, Scope.MANAGED]
    stronger = [
        origin
        for origin in c.settings.origins(path)
        if origin.path != written.path and order.index(origin.scope) > order.index(written.scope)
    ]
    if stronger:
        screen.line(f"Note: {describe(stronger[-1])} sets it too and is stronger here.", "yellow")


def _guess(path: tuple[str, ...], c: Configuration) -> str:
    near = closest(join_key(path), [join_key(known) for known, _ in leaves(c.settings.merged)])
    return f" Did you mean {near}?" if near else ""


def _complain(c: Configuration) -> None:
    """A file that could not be used changes what is in effect, so it is mentioned everywhere."""
    for diagnostic in c.diagnostics:
        if diagnostic.severity is Severity.ERROR:
            sys.stderr.write(f"{diagnostic}\n")


def _row(path: tuple[str, ...], value: Any, origins: list[Origin]) -> dict[str, Any]:
    return {
        "key": join_key(path),
        "value": value,
        "origins": [_place(o.scope.value, o.path) for o in origins],
    }


def _place(scope: str, path: str) -> dict[str, str]:
    return {"scope": scope, "path": path}


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
