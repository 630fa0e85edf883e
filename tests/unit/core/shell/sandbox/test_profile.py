from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from shlex import quote

import msgspec
import pytest

import forge
from forge.core.shell.sandbox.facts import Facts
from forge.core.shell.sandbox.probe import probe
from forge.core.shell.sandbox.profile import (
    NoSandbox,
    Places,
    Profile,
    cache_variables,
    confinement,
    cut_off,
    looks_refused,
    sockets_of,
    wider,
    without,
)
from forge.core.shell.session.command import Command, Ended, run
from forge.foundation.system.keeping import Confinement, Keeper

BEST = Facts(7, seccomp=True, namespaces=True, fresh_proc=True)
SECOND = Facts(7, seccomp=True, missing=(("namespaces", "clone: Operation not permitted"),))


def places(root: Path) -> Places:
    for name in ("workspace/.git/hooks", "home/.ssh", "home/.cache", "temp"):
        (root / name).mkdir(parents=True)
    (root / "home/.npmrc").touch()
    return Places(str(root / "workspace"), str(root / "home"), str(root / "temp"))


def own(paths: tuple[str, ...], root: Path) -> list[str]:
    return [path.removeprefix(f"{root}/") for path in paths if path.startswith(str(root))]


@pytest.mark.parametrize(
    ("profile", "write", "hide", "no_network"),
    [
        (Profile.READ, ["temp"], ["home/.npmrc", "home/.ssh"], True),
        (Profile.WORKSPACE, ["temp", "workspace", "home/.cache"], ["home/.npmrc", "home/.ssh"], True),
        (Profile.BUILD, ["temp", "workspace", "home/.cache"], ["home/.ssh"], False),
    ],
)
def test_a_profile_says_what_can_be_reached(
    tmp_path: Path, profile: Profile, write: list[str], hide: list[str], no_network: bool
) -> None:
    made = confinement(profile, places(tmp_path), BEST)
    assert made is not None
    assert (own(made.write, tmp_path), own(made.hide, tmp_path)) == (write, hide)
    assert own(made.protect, tmp_path) == ["workspace/.git/hooks"]
    switches = (made.no_network, made.namespaces, made.fresh_proc, made.landlock, made.seccomp, made.sockets)
    assert switches == (no_network, True, True, True, True, "any")


def test_the_full_profile_is_no_sandbox(tmp_path: Path) -> None:
    assert confinement(Profile.FULL, places(tmp_path), BEST) is None


def test_without_namespaces_secrets_are_left_out_of_what_can_be_read(tmp_path: Path) -> None:
    made = confinement(Profile.READ, places(tmp_path), SECOND)
    assert made is not None
    assert own(made.read, tmp_path) == ["home/.cache", "temp", "workspace"]
    assert (made.namespaces, made.fresh_proc, made.sockets) == (False, False, "none")


@pytest.mark.parametrize(("facts", "layer"), [(BEST, 1), (SECOND, 3), (Facts(seccomp=True), 4), (Facts(), 5)])
def test_the_layer_is_what_works(facts: Facts, layer: int) -> None:
    assert facts.layer == layer


def test_a_profile_without_a_sandbox_is_refused_with_the_reason(tmp_path: Path) -> None:
    facts = Facts(missing=(("Landlock", "Function not implemented"),))
    with pytest.raises(NoSandbox) as caught:
        confinement(Profile.READ, places(tmp_path), facts)
    expected = (
        "The profile read needs a sandbox that does not work here (Landlock: Function not implemented)."
    )
    assert str(caught.value) == expected


def test_what_the_user_has_opened_is_not_hidden(tmp_path: Path) -> None:
    opened = places(tmp_path)
    made = confinement(
        Profile.WORKSPACE,
        Places(opened.workspace, opened.home, opened.temp, (f"{opened.home}/.ssh/work",)),
        BEST,
    )
    assert made is not None
    assert own(made.hide, tmp_path) == ["home/.npmrc"]


def test_the_next_profile_is_wider() -> None:
    assert [wider(profile) for profile in Profile] == [Profile.WORKSPACE, Profile.BUILD, Profile.FULL, None]


def test_refusals_are_recognised_and_sockets_found() -> None:
    refused = ["touch: /etc/x: Read-only file system", "curl: (6) Could not resolve host: x"]
    assert [looks_refused(text) for text in (*refused, "1 failed, 2 passed")] == [True, True, False]
    env = {
        "SSH_AUTH_SOCK": "/tmp/ssh/agent",
        "DOCKER_HOST": "unix:///run/d.sock",
        "XDG_RUNTIME_DIR": "/run/user/7",
    }
    assert sockets_of(env) == ("/tmp/ssh/agent", "/run/user/7", "/run/d.sock")
    assert sockets_of({"DOCKER_HOST": "tcp://x:1"}) == ()


def test_a_tree_without_some_parts_is_the_rest_of_it(tmp_path: Path) -> None:
    for name in ("a/b", "a/c", "d", "e"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "a")
    root = str(tmp_path)
    hidden = [f"{root}/a/c", f"{root}/e"]
    assert without(hidden, root) == [f"{root}/a/b", f"{root}/d"]


def test_caches_are_led_to_one_place() -> None:
    assert all(path.startswith("/cache") for path in cache_variables("/cache").values())


def test_the_facts_are_told_in_words() -> None:
    assert SECOND.lines() == [
        "protection: Landlock and seccomp",
        "Landlock: version 7",
        "seccomp: works",
        "namespaces: missing: clone: Operation not permitted",
        "own /proc: missing: ",
    ]


def test_a_layer_that_was_promised_but_cannot_start_is_an_error(tmp_path: Path) -> None:
    """In a sandbox no further namespaces can be made, so there the promise cannot be kept."""
    code = (
        "import asyncio, sys\n"
        "from forge.foundation.system.keeping import *\n"
        "async def main():\n"
        "    keeper = Keeper()\n"
        "    order = Order(['/bin/true'], '/', {}, sandbox=Confinement(namespaces=True))\n"
        "    try:\n"
        "        await keeper.start(order)\n"
        "        print('started')\n"
        "    except NotStarted as error:\n"
        "        print(error)\n"
        "    keeper.close()\n"
        "asyncio.run(main())\n"
    )
    (tmp_path / "code.py").write_text(code)

    async def play() -> tuple[Facts, Ended | None]:
        keeper = Keeper()
        try:
            facts = await probe(keeper)
            if not facts.seccomp:
                return facts, None
            source = os.path.dirname(os.path.dirname(forge.__file__ or ""))
            env = {"PATH": os.environ["PATH"], "PYTHONPATH": source}
            text = f"{quote(sys.executable)} code.py"
            command = Command(text, str(tmp_path), env, sandbox=Confinement(seccomp=True))
            return facts, await run(command, keeper)
        finally:
            keeper.close()

    facts, ended = asyncio.run(play())
    if ended is None:
        pytest.skip(f"no seccomp here: {dict(facts.missing)}")
    assert ended.output.text() == "PermissionError: clone: Operation not permitted\n"


def test_a_command_that_is_cut_off_may_do_everything_but_reach_the_network(tmp_path: Path) -> None:
    free = cut_off(None, BEST)
    assert (free.write, free.no_network, free.namespaces, free.sockets) == (("/",), True, True, "any")
    assert cut_off(None, SECOND).sockets == "none"
    built = confinement(Profile.BUILD, places(tmp_path), BEST)
    assert built is not None
    assert cut_off(built, BEST) == msgspec.structs.replace(built, no_network=True)
    with pytest.raises(NoSandbox, match="With airGap commands get no network"):
        cut_off(None, Facts(0, seccomp=False))
