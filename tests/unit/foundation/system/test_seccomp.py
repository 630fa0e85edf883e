from __future__ import annotations

import pytest

from forge.foundation.system.seccomp import lines

ALLOW, KILL, EPERM, ENOSYS, EACCES = "allow", "kill", 1, 38, 13
ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
# Numbers of read, ptrace, mount, unshare, bpf, clone, ioctl, socket, execve.
NUMBERS = {
    "x86_64": (0, 101, 165, 272, 321, 56, 16, 41, 59),
    "aarch64": (63, 117, 40, 97, 280, 220, 29, 198, 221),
}
NAMES = ("read", "ptrace", "mount", "unshare", "bpf", "clone", "ioctl", "socket", "execve")


def judged(architecture: str, sockets: str, number: int, *arguments: int, seen: int | None = None) -> object:
    """What the filter says, computed as the kernel would."""
    values = {0: number, 4: ARCHITECTURE[architecture] if seen is None else seen}
    values |= {16 + 8 * place: value & 0xFFFFFFFF for place, value in enumerate(arguments)}
    program = lines(architecture, sockets)
    place = register = 0
    while True:
        code, yes, no, value = program[place]
        place += 1
        if code == 0x20:
            register = values.get(value, 0)
        elif code == 0x06:
            return {0x7FFF0000: ALLOW, 0x80000000: KILL}.get(value, value & 0xFFFF)
        else:
            hit = {0x15: register == value, 0x35: register >= value, 0x45: bool(register & value)}[code]
            place += yes if hit else no


@pytest.mark.parametrize("architecture", NUMBERS)
@pytest.mark.parametrize(
    ("name", "arguments", "sockets", "answer"),
    [
        ("read", (), "none", ALLOW),
        ("execve", (), "none", ALLOW),
        ("ptrace", (16,), "any", EPERM),
        ("mount", (), "any", EPERM),
        ("unshare", (0,), "any", EPERM),
        ("bpf", (), "any", EPERM),
        ("clone", (17,), "any", ALLOW),
        ("clone", (0x4111,), "any", ALLOW),
        ("clone", (0x10000000 | 17,), "any", EPERM),
        ("clone", (0x40000000 | 17,), "any", EPERM),
        ("ioctl", (0, 0x5401), "any", ALLOW),
        ("ioctl", (0, 0x5412), "any", EPERM),
        ("ioctl", (0, 0x541C), "any", EPERM),
        ("socket", (2,), "any", ALLOW),
        ("socket", (2,), "unix", EACCES),
        ("socket", (1,), "unix", ALLOW),
        ("socket", (16,), "unix", ALLOW),
        ("socket", (1,), "none", EACCES),
        ("socket", (16,), "none", ALLOW),
        ("socket", (10,), "none", EACCES),
    ],
)
def test_the_filter_refuses_what_leads_out(
    architecture: str, name: str, arguments: tuple[int, ...], sockets: str, answer: object
) -> None:
    number = NUMBERS[architecture][NAMES.index(name)]
    assert judged(architecture, sockets, number, *arguments) == answer


@pytest.mark.parametrize("architecture", NUMBERS)
def test_newer_clone_is_unknown_and_foreign_calls_end_the_process(architecture: str) -> None:
    assert judged(architecture, "any", 435) == ENOSYS
    assert judged(architecture, "any", 0, seen=0x40000003) == KILL


def test_the_other_numbering_of_the_same_processor_is_unknown() -> None:
    assert judged("x86_64", "any", 0x40000000 + 101) == ENOSYS
