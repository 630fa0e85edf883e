"""The ways to a screen, in the order in which they are tried."""

from __future__ import annotations

import select
import subprocess
from collections.abc import Callable, Mapping
from typing import NamedTuple

from forge.foundation.errors import UsageError
from forge.foundation.system.controlling import OWN, usable_terminal
from forge.foundation.system.facts import platform_name
from forge.hosts.diffy.surfaces.opened import Asked, Child, Launched, Opened
from forge.hosts.diffy.surfaces.place import Place, foreign_command, foreign_line, program, screen_command
from forge.hosts.diffy.surfaces.runtime import watch_socket
from forge.hosts.diffy.surfaces.wire import OPEN, OPENED, Message, connect

_ANSWER_SECONDS = 2.0


class Surface(NamedTuple):
    """One way. `stays`: the screen is on a terminal of its own and goes on without the agent."""

    name: str
    stays: bool
    offered: Callable[[Place], bool]
    open: Callable[[Place, str], Opened | None]


def surfaces(only: str = "", *, web: bool = False) -> list[Surface]:
    """All ways in order, or the one that is named (`tmux` stands for popup and window).

    `web`: the page is offered even where no browser is in sight.
    """
    if not only:
        return [_WEB_ANYWAY if web and row.name == "web" else row for row in SURFACES]
    found = [row for row in SURFACES if row.name == only or row.name.startswith(f"{only}-")]
    if not found:
        names = ", ".join(row.name for row in SURFACES)
        raise UsageError(f"There is no surface {only!r}.", f"Known are: {names}, tmux and none.")
    return [_WEB_ANYWAY if row.name == "web" else row for row in found]


def _own_terminal(place: Place, folder: str) -> Opened | None:
    return Child(screen_command(folder), place.env, OWN)


def _lent_terminal(place: Place, folder: str) -> Opened | None:
    return Child(screen_command(folder), place.env, place.env["FORGE_TTY"])


def _wrapper(place: Place, folder: str) -> Opened | None:
    return _ask(place.env["DIFFY_SOCK"], folder)


def _companion(place: Place, folder: str) -> Opened | None:
    return _ask(watch_socket(place.runtime, place.root), folder)


def _ask(path: str, folder: str) -> Opened | None:
    plug = connect(path)
    if plug is None:
        return None
    plug.send(Message(OPEN, review=folder))
    select.select([plug], [], [], _ANSWER_SECONDS)
    answers = plug.receive()
    plug.close()
    return Asked() if any(answer.type == OPENED for answer in answers) else None


def _popup(place: Place, folder: str) -> Opened | None:
    where = ["-w", "95%", "-h", "95%", "-d", place.root]
    return Launched(
        ["tmux", "display-popup", "-E", *_pane(place.env), *where, foreign_line(place, folder)],
        place.env,
        blocks=True,
    )


def _window(place: Place, folder: str) -> Opened | None:
    argv = ["tmux", "split-window", "-Z", *_pane(place.env), "-c", place.root, foreign_line(place, folder)]
    return Launched(argv, place.env)


def _pane(env: Mapping[str, str]) -> list[str]:
    return ["-t", env["TMUX_PANE"]] if env.get("TMUX_PANE") else []


def _zellij(place: Place, folder: str) -> Opened | None:
    options = ["--floating", "--close-on-exit", "--name", "diffy", "--cwd", place.root]
    return Launched(["zellij", "run", *options, "--", *foreign_command(place, folder)], place.env)


def _kitty(place: Place, folder: str) -> Opened | None:
    launch = ["launch", "--type=overlay", f"--cwd={place.root}", *foreign_command(place, folder)]
    return Launched(["kitty", "@", "--to", place.env["KITTY_LISTEN_ON"], *launch], place.env)


def _wezterm(place: Place, folder: str) -> Opened | None:
    options = ["--pane-id", place.env["WEZTERM_PANE"], "--bottom", "--percent", "90", "--cwd", place.root]
    return Launched(
        ["wezterm", "cli", "split-pane", *options, "--", *foreign_command(place, folder)], place.env
    )


def _page(place: Place, folder: str) -> Opened | None:
    # The shell ends at once, so that the page belongs to nobody's tree of processes and outlives the hook.
    argv = ["sh", "-c", '"$@" </dev/null >/dev/null 2>&1 &', "sh", *program(), "web", "--review", folder]
    subprocess.run(argv, env=dict(place.env), check=False, start_new_session=True)
    return Asked()


def _browser_in_sight(place: Place) -> bool:
    names = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "WSL_DISTRO_NAME")
    return platform_name() == "darwin" or any(place.env.get(name) for name in names)


def _has(name: str) -> Callable[[Place], bool]:
    return lambda place: bool(place.env.get(name))


SURFACES = (
    Surface("tty", False, lambda place: usable_terminal(), _own_terminal),
    Surface(
        "host",
        False,
        lambda place: bool(place.env.get("FORGE_TTY")) and usable_terminal(place.env["FORGE_TTY"]),
        _lent_terminal,
    ),
    Surface("wrap", False, _has("DIFFY_SOCK"), _wrapper),
    Surface("watch", True, lambda place: True, _companion),
    Surface("tmux-popup", True, _has("TMUX"), _popup),
    Surface("tmux-window", True, _has("TMUX"), _window),
    Surface("zellij", True, _has("ZELLIJ"), _zellij),
    Surface("kitty", True, _has("KITTY_LISTEN_ON"), _kitty),
    Surface("wezterm", True, _has("WEZTERM_PANE"), _wezterm),
    Surface("web", True, _browser_in_sight, _page),
)
_WEB_ANYWAY = Surface("web", True, lambda place: True, _page)
