"""`forgecmd restore`: brings back what was kept before a dangerous command."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Mapping

import msgspec

from forge.core.shell.isolation import filter_environment
from forge.core.shell.trash import Kept, NotRestored, Trash
from forge.foundation.errors import ForgeError, UsageError
from forge.foundation.redact import redact
from forge.foundation.system.keeping import Keeper
from forge.hosts.cli.screen import Screen, open_screen
from forge.hosts.guarded.ground import trash_dir
from forge.hosts.guarded.options import FLAG, read_options

_NOTHING = "Nothing is kept. Copies are made before a dangerous command that you allowed."


def command(argv: list[str], env: Mapping[str, str]) -> int:
    """Runs `forgecmd restore` and returns the exit code."""
    given = read_options(argv[1:], {"list": FLAG, "overwrite": FLAG, "json": FLAG})
    trash = Trash(trash_dir(env))
    screen = open_screen(env)
    if given.has("list") or not given.words:
        return _list(trash.entries(), given.has("json"), screen)
    if len(given.words) > 1:
        raise UsageError("restore needs one id; `forgecmd restore --list` shows them")
    number = given.words[0]
    try:
        restored = trash.restore(number, overwrite=given.has("overwrite"))
        kept = next(entry for entry in trash.entries() if entry.id == number)
        if kept.commit:
            asyncio.run(_repository(trash, kept, env))
            restored.append(f"{kept.repository} (tracked files)")
    except NotRestored as error:
        hint = "`forgecmd restore --list` shows what is kept; --overwrite replaces what is there."
        raise ForgeError(str(error), hint) from None
    if given.has("json"):
        sys.stdout.write(msgspec.json.encode({"id": number, "restored": restored}).decode() + "\n")
    else:
        for path in restored:
            screen.line(f"{screen.paint(screen.signs['ok'], 'green')} {path}")
        if not restored:
            screen.say("There was nothing to bring back.")
    return 0


async def _repository(trash: Trash, kept: Kept, env: Mapping[str, str]) -> None:
    keeper = Keeper()
    try:
        await trash.restore_repository(kept, filter_environment(env).env, keeper)
    finally:
        keeper.close()


def _list(entries: list[Kept], as_json: bool, screen: Screen) -> int:
    if as_json:
        sys.stdout.write(msgspec.json.encode([_plain(entry) for entry in entries]).decode() + "\n")
    elif not entries:
        screen.say(_NOTHING)
    for entry in () if as_json else entries:
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(entry.at))
        screen.line(f"{entry.id}  {when}  {screen.clip(redact(entry.command), 42)}")
        paths = [item.path for item in entry.items if item.copy]
        paths += [f"{entry.repository} (tracked files)"] if entry.commit else []
        for path in paths or ["(nothing existed)"]:
            screen.line(f"    {path}", "dim")
        for path in entry.left_out:
            screen.line(f"    {path} (too large, not kept)", "yellow")
    return 0


def _plain(entry: Kept) -> dict[str, object]:
    found: dict[str, object] = msgspec.to_builtins(entry)
    return {**found, "command": redact(entry.command)}
