"""The ways to a screen: their order, their command lines, and what counts as failed."""

from __future__ import annotations

import os
import select
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from forge.foundation.errors import UsageError
from forge.hosts.diffy.surfaces.chain import SURFACES, surfaces
from forge.hosts.diffy.surfaces.link import Link
from forge.hosts.diffy.surfaces.modes import Modes
from forge.hosts.diffy.surfaces.opened import Launched
from forge.hosts.diffy.surfaces.place import Place
from forge.hosts.diffy.surfaces.post import Ending
from forge.hosts.diffy.surfaces.present import Shown, present, rejoin
from forge.hosts.diffy.surfaces.runtime import ReviewState, reviews_of, watch_socket, write_review
from forge.hosts.diffy.surfaces.signals import Signals
from forge.hosts.diffy.surfaces.wire import Plug, listen
from forge.hosts.diffy.watch import asked_for

ENV = {
    "PATH": "/bin",
    "HOME": "/h",
    "FORGE_API_KEY": "x",
    "GIT_CONFIG_VALUE_0": "x",
    "DIFFY_FEEDBACK_MAX_SIZE": "9",
}
SCREEN = [sys.executable, "-P", "-m", "forge.hosts.diffy", "ui", "--review", "/run/review-1"]
FOREIGN = ["env", "PATH=/bin", "HOME=/h", "DIFFY_FEEDBACK_MAX_SIZE=9", *SCREEN]
LINE = shlex.join(FOREIGN)
STATE = ReviewState(id="1", root="/tree")

# What each program is called with; only tmux has been tried live.
COMMANDS = {
    "tmux-popup": (
        {"TMUX": "s", "TMUX_PANE": "%3"},
        ["tmux", "display-popup", "-E", "-t", "%3", "-w", "95%", "-h", "95%", "-d", "/tree", LINE],
    ),
    "tmux-window": (
        {"TMUX": "s"},
        ["tmux", "split-window", "-Z", "-c", "/tree", LINE],
    ),
    "zellij": (
        {"ZELLIJ": "0"},
        [
            *["zellij", "run", "--floating", "--close-on-exit", "--name", "diffy", "--cwd", "/tree", "--"],
            *FOREIGN,
        ],
    ),
    "kitty": (
        {"KITTY_LISTEN_ON": "unix:/k"},
        ["kitty", "@", "--to", "unix:/k", "launch", "--type=overlay", "--cwd=/tree", *FOREIGN],
    ),
    "wezterm": (
        {"WEZTERM_PANE": "7"},
        [
            *["wezterm", "cli", "split-pane", "--pane-id", "7", "--bottom", "--percent", "90"],
            *["--cwd", "/tree", "--", *FOREIGN],
        ],
    ),
}


@pytest.fixture
def runtime() -> Iterator[str]:
    with TemporaryDirectory(prefix="d", dir="/tmp") as place:
        yield place


def _feed(screen: subprocess.Popen[bytes]) -> None:
    """Lets the screen look again until it has ended."""
    assert screen.stdin is not None
    while screen.poll() is None:
        try:
            screen.stdin.write(b"\n")
            screen.stdin.flush()
        except BrokenPipeError:
            return
        with suppress(subprocess.TimeoutExpired):
            screen.wait(0.02)


@pytest.mark.parametrize("name", COMMANDS)
def test_terminal_program_is_called_as_its_manual_says(name: str, tmp_path: Path) -> None:
    more, wanted = COMMANDS[name]
    fake = tmp_path / wanted[0]
    fake.write_text('#!/bin/sh\nprintf "%s\\n" "$0" "$@" > "${0%/*}/called"\n')
    fake.chmod(0o755)
    way = next(row for row in SURFACES if row.name == name)
    place = Place("/tree", {**ENV, **more}, "/run")
    assert not way.offered(Place("/tree", ENV, "/run"))
    assert way.offered(place)
    called_with = Place("/tree", {**ENV, **more, "PATH": f"{tmp_path}:/bin"}, "/run")
    opened = way.open(called_with, "/run/review-1")
    assert isinstance(opened, Launched)
    assert opened.wait() == 0
    wanted = [word.replace("PATH=/bin", f"PATH={tmp_path}:/bin") for word in wanted]
    assert (tmp_path / "called").read_text().splitlines() == [f"{tmp_path}/{wanted[0]}", *wanted[1:]]


def test_program_that_is_not_there_has_failed() -> None:
    assert Launched(["/nosuchprogram"], {}).failed()


@pytest.mark.parametrize(
    ("command", "blocks", "failed"), [("true", False, False), ("false", False, True), ("true", True, True)]
)
def test_launcher_fails_by_its_code_or_by_ending_early(command: str, blocks: bool, failed: bool) -> None:
    opened = Launched([command], os.environ, blocks=blocks)
    opened.wait()
    assert opened.failed() is failed


def test_all_ways_are_tried_in_the_order_of_the_contract() -> None:
    order = "tty host wrap watch tmux-popup tmux-window zellij kitty wezterm web"
    assert [row.name for row in surfaces()] == order.split()


@pytest.mark.parametrize(
    ("only", "names"),
    [("tmux", ["tmux-popup", "tmux-window"]), ("web", ["web"]), ("tmux-window", ["tmux-window"])],
)
def test_one_way_can_be_chosen(only: str, names: list[str]) -> None:
    assert [row.name for row in surfaces(only)] == names


def test_unknown_way_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError) as caught:
        surfaces("telnet")
    assert "tmux-popup" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("env", "offered"),
    [({}, False), ({"DISPLAY": ":0"}, True), ({"WAYLAND_DISPLAY": "w"}, True), ({"BROWSER": "b"}, True)],
)
def test_page_is_offered_where_a_browser_is_in_sight(env: dict[str, str], offered: bool) -> None:
    page = next(row for row in surfaces() if row.name == "web")
    assert page.offered(Place("/tree", env, "/run")) is offered
    anyway = next(row for row in surfaces(web=True) if row.name == "web")
    assert anyway.offered(Place("/tree", env, "/run"))


def test_companion_shows_the_review(runtime: str) -> None:
    place = Place("/tree", ENV, runtime)
    listener = listen(watch_socket(runtime, "/tree"))

    def companion() -> None:
        select.select([listener], [], [], 5)
        from_hook, _ = listener.accept()
        Link(asked_for(Plug(from_hook))).finish(b"{}")

    thread = threading.Thread(target=companion)
    thread.start()
    with Signals() as signals:
        shown = present(place, STATE, surfaces("watch"), signals)
    thread.join()
    listener.close()
    assert shown == Shown(Ending.FINISHED, "watch", f"{runtime}/review-1")


def test_without_any_way_nothing_is_shown(runtime: str) -> None:
    with Signals() as signals:
        shown = present(Place("/tree", ENV, runtime), STATE, surfaces("watch"), signals)
    assert shown == Shown(None, "", f"{runtime}/review-1")


def test_screen_whose_agent_has_gone_is_joined_by_the_next_one(runtime: str) -> None:
    folder = write_review(runtime, STATE)
    script = (
        "import sys; from forge.hosts.diffy.surfaces.link import Link\n"
        "link = Link(sys.argv[1]); print(link.waiting, flush=True)\n"
        "while not link.retry(): sys.stdin.readline()\n"
        "link.finish(b'{}')"
    )
    argv = [sys.executable, "-c", script, folder]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(argv, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as screen:
        assert screen.stdout is not None
        assert screen.stdin is not None
        assert screen.stdout.readline() == b"False\n"
        pump = threading.Thread(target=_feed, args=(screen,))
        pump.start()
        with Signals() as signals:
            assert rejoin(Place("/tree", ENV, runtime), (0, 0), signals) == Shown(Ending.FINISHED, "", folder)
        pump.join()


def test_review_that_nobody_looks_at_is_removed(runtime: str) -> None:
    write_review(runtime, STATE)
    with Signals() as signals:
        assert rejoin(Place("/tree", ENV, runtime), (0, 0), signals) is None
    assert reviews_of(runtime, "/tree") == []


SEQUENCES = [
    (b"\x1b[?1049h\x1b[?1000;1006h\x1b[?2004h", b"\x1b[?1049h\x1b[?1000h\x1b[?1006h\x1b[?2004h"),
    (b"\x1b[?1049h\x1b[?25l\x1b[?1049l", b"\x1b[?25l"),
    (b"\x1b[>1u\x1b[>5u\x1b[<u", b"\x1b[>1u"),
    (b"\x1b[>4;2m\x1b[?2031h", b"\x1b[?2031h\x1b[>4;2m"),
    (b"\x1b[?7h\x1b[?12l plain text \x1b[31m", b""),
]


@pytest.mark.parametrize(("output", "entered"), SEQUENCES)
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_modes_of_a_program_are_followed_through_any_cuts(output: bytes, entered: bytes, size: int) -> None:
    modes = Modes()
    for start in range(0, len(output), size):
        modes.follow(output[start : start + size])
    assert modes.enter() == entered


def test_modes_are_left_before_the_screen_is() -> None:
    modes = Modes()
    modes.follow(b"\x1b[?1049h\x1b[?1002h\x1b[>1u")
    assert modes.leave() == b"\x1b[<u\x1b[?1002l\x1b[?1049l\x1b[?25h\x1b[0m"
