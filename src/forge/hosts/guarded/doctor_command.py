"""`forgecmd doctor`: tries what protects this machine and says what does not work, and why."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping

import msgspec

from forge.core.shell.analysis.tripwire import read_by_bash
from forge.core.shell.history.record import History
from forge.core.shell.sandbox.facts import Facts
from forge.core.shell.sandbox.probe import probe
from forge.foundation.errors import ConfigError, ForgeError
from forge.foundation.system.keeping import Keeper
from forge.foundation.system.process import Unsupported
from forge.foundation.system.terminal import open_terminal
from forge.hosts.cli.screen import Screen, open_screen
from forge.hosts.forgecmd.client import ask_daemon
from forge.hosts.forgecmd.policies import load_policy, workspace_of
from forge.hosts.guarded.ground import history_path
from forge.hosts.guarded.options import FLAG, read_options

_CONFINED = 3
_LAYERS = {
    1: "namespaces, Landlock and seccomp",
    3: "Landlock and seccomp",
    4: "seccomp only",
    5: "no kernel sandbox",
}


class Check(msgspec.Struct, frozen=True):
    """One thing that was tried; `problem` says why it does not work."""

    name: str
    works: bool
    detail: str


def command(argv: list[str], env: Mapping[str, str]) -> int:
    """Runs `forgecmd doctor` and returns the exit code."""
    given = read_options(argv[1:], {"json": FLAG})
    facts = asyncio.run(_facts())
    checks = [*_kernel(facts), *_rest(env, os.getcwd())]
    confined = facts.layer <= _CONFINED
    if given.has("json"):
        told = {"layer": facts.layer, "protection": _LAYERS[facts.layer], "confined": confined}
        told |= {"checks": [msgspec.to_builtins(check) for check in checks]}
        sys.stdout.write(msgspec.json.encode(told).decode() + "\n")
    else:
        _show(facts, checks, open_screen(env))
    return 0 if confined and all(check.works for check in checks if check.name == "rules") else 1


async def _facts() -> Facts:
    keeper = Keeper()
    try:
        return await probe(keeper)
    finally:
        keeper.close()


def _kernel(facts: Facts) -> list[Check]:
    missing = dict(facts.missing)
    details = {
        "Landlock": f"ABI {facts.landlock}",
        "seccomp": "works",
        "namespaces": "user, mount, process and network",
        "own /proc": "works",
    }
    return [Check(name, name not in missing, missing.get(name, said)) for name, said in details.items()]


def _rest(env: Mapping[str, str], cwd: str) -> list[Check]:
    return [_bash(), _terminal(), _history(env), _rules(env, cwd), _daemon(env), _workspace(env, cwd)]


def _bash() -> Check:
    reading = read_by_bash("a; b\n")
    text = "bash reads unusual commands a second time" if reading else "no bash here can print what it reads"
    return Check("bash tripwire", reading is not None, text)


def _terminal() -> Check:
    try:
        for descriptor in open_terminal(24, 80, plain=True):
            os.close(descriptor)
    except (OSError, Unsupported) as error:
        return Check("terminals", False, f"{error}: commands run in pipes")
    return Check("terminals", True, "interactive programs work")


def _history(env: Mapping[str, str]) -> Check:
    path = history_path(env)
    try:
        History(path).close()
    except ForgeError as error:
        return Check("history", False, str(error))
    return Check("history", True, path)


def _rules(env: Mapping[str, str], cwd: str) -> Check:
    try:
        policy = load_policy(env, cwd)
    except ConfigError as error:
        return Check("rules", False, str(error))
    if not policy.enabled:
        return Check("rules", False, "forgecmd is switched off: forgecmd.mode is off in your settings")
    count = {kind: len(policy.rules.of(kind)) for kind in ("deny", "ask", "allow")}
    return Check("rules", True, ", ".join(f"{number} {kind}" for kind, number in count.items()))


def _daemon(env: Mapping[str, str]) -> Check:
    running = ask_daemon(b'{"tool_name": "None"}', env) is not None
    return Check("guard daemon", True, "in memory" if running else "not in memory (forgecmd hook --daemon)")


def _workspace(env: Mapping[str, str], cwd: str) -> Check:
    return Check("workspace", True, workspace_of(env, cwd))


def _show(facts: Facts, checks: list[Check], screen: Screen) -> None:
    style = "green" if facts.layer <= _CONFINED else "alarm"
    screen.say(f"Commands are confined by: {_LAYERS[facts.layer]}", style)
    screen.line()
    rows = []
    for check in checks:
        sign = screen.signs["ok" if check.works else "no"]
        rows.append((screen.paint(sign, "green" if check.works else "red"), check.name, check.detail))
    screen.table(rows)
    if facts.layer > _CONFINED:
        screen.line()
        screen.say(
            "Without a kernel sandbox forgecmd asks one step earlier, and nothing holds a command back."
        )
