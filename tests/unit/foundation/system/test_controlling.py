"""Terminals: what can be used, modes that come back, and programs in terminals of their own."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from forge.foundation.system.controlling import (
    make_raw,
    read_modes,
    restore_modes,
    spawn_in_terminal,
    terminal_size,
    usable_terminal,
)
from forge.foundation.system.terminal import open_terminal


def test_what_is_no_terminal_of_ours_cannot_be_used(tmp_path: Path) -> None:
    master, slave = open_terminal(24, 80, plain=True)
    (tmp_path / "file").touch()
    places = [str(tmp_path / "missing"), str(tmp_path / "file"), os.ttyname(slave)]
    assert [usable_terminal(place) for place in places] == [False, False, False]
    os.close(master)
    os.close(slave)


def test_modes_come_back_after_raw_ones() -> None:
    master, slave = open_terminal(10, 33, plain=False)
    before = read_modes(slave)
    make_raw(slave)
    assert read_modes(slave) != before
    restore_modes(slave, before)
    assert (read_modes(slave), terminal_size(slave)) == (before, (10, 33))
    os.close(master)
    os.close(slave)


def test_what_is_no_terminal_has_no_modes_and_the_usual_size() -> None:
    reading, writing = os.pipe()
    assert (read_modes(reading), terminal_size(reading)) == (None, (24, 80))
    restore_modes(reading, None)
    os.close(reading)
    os.close(writing)


def test_program_has_its_terminal_and_is_in_front_of_it() -> None:
    master, slave = open_terminal(24, 80, plain=True)
    code = (
        "from forge.foundation.system.controlling import usable_terminal as u; import os;"
        "print(u(), os.getsid(0) == os.getpid(), all(map(os.isatty, range(3))))"
    )
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path), "LANG": "C.UTF-8"}
    pid = spawn_in_terminal([sys.executable, "-c", code], env, slave)
    assert os.waitpid(pid, 0)[1] == 0
    assert os.read(master, 100) == b"True True True\n"
    os.close(master)
    os.close(slave)
