"""What `forge skill` and `forge agent` have in common: list, info, new."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from forge.core.components.catalog import Catalog
from forge.core.registry import Registry
from forge.foundation.errors import ForgeError, UsageError
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
from forge.hosts.cli.component_list import Row, details
from forge.hosts.cli.flags import VALUE, Flag
from forge.hosts.cli.parse import CommandLine
from forge.hosts.cli.screen import Screen, open_screen
from forge.hosts.configuration import Configuration, load_configuration
from forge.hosts.options import RunOptions, read_options
from forge.hosts.parts.components import Components

ACTIONS = ("list", "info", "new")
FLAGS = (
    Flag("--description", VALUE, "text", "new: what it is for and when to use it"),
    Flag("-s --scope", VALUE, "scope", "new: project (the default) or user", choices="project user"),
    JSON,
    NO_COLOR,
)


class Kind(msgspec.Struct, frozen=True):
    """One kind of component: its help, its registry, its rows, and the way to make a new file."""

    command: Command
    registry: Callable[[Catalog], Registry[Any]]
    rows: Callable[[Catalog], list[Row]]
    create: Callable[[str, str, str], str]
    folder: str


def run_component(kind: Kind, line: CommandLine, env: dict[str, str]) -> int:
    """Runs list, info or new."""
    given = read_arguments(kind.command, line)
    if given is None:
        return 0
    action, name = take_words(kind.command, given.words, ("ACTION", "NAME"), optional=2)
    options = read_options(line)
    c = load_configuration(options, env, os.getcwd())
    screen = open_screen(env, plain=given.on("no_color"))
    if action == "new":
        return _new(kind, c, given, screen)
    components = Components(options, c)
    if action == "info":
        return _info(kind, components.catalog, name, given, screen)
    if action not in ("", "list"):
        raise unknown_word(kind.command, action, ACTIONS)
    rows = kind.rows(components.catalog)
    if given.on("json"):
        print_json(rows)
    else:
        _table(screen, rows, kind.command.name)
    return 0


def catalog_of(env: Mapping[str, str], cwd: str) -> Catalog:
    """The components of a directory; none where its settings cannot be read."""
    options = RunOptions()
    try:
        return Components(options, load_configuration(options, env, cwd)).catalog
    except ForgeError:
        return Catalog()


def _new(kind: Kind, c: Configuration, given: Arguments, screen: Screen) -> int:
    name = take_words(kind.command, given.words, ("ACTION", "NAME"))[1]
    scope = given.text("scope") or "project"
    root = c.places.forge_home if scope == "user" else os.path.join(c.places.project_root, ".forge")
    words = given.text("description") or f"Say what {name} is for and when to use it."
    path = kind.create(os.path.join(root, kind.folder), name, words)
    if given.on("json"):
        print_json({"name": name, "scope": scope, "path": path})
    else:
        screen.line(f"Made {path}")
    return 0


def _info(kind: Kind, catalog: Catalog, name: str, given: Arguments, screen: Screen) -> int:
    registry = kind.registry(catalog)
    found = registry.find(name)
    if not found:
        near = closest(name, [c.name for c in registry])
        guess = f" Did you mean {near}?" if near else ""
        raise UsageError(f"There is no {kind.command.name} {name!r} here.{guess}")
    told = details(found[0], found[1:])
    if given.on("json"):
        print_json(told)
    else:
        screen.table([(key, _shown(value)) for key, value in told.items() if value != []], styles={0: "dim"})
    return 0


def _table(screen: Screen, rows: list[Row], name: str) -> None:
    for row in rows:
        hidden = f"; hides {', '.join(row.shadows)}" if row.shadows else ""
        screen.line(f"{row.name} ({row.kind})")
        screen.say(row.description, "", first="    ", then="    ")
        screen.line(f"    {row.origin}{hidden}", "dim")
    if not rows:
        screen.line(f"There are no {name}s here. Make one with: forge {name} new NAME")


def _shown(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
