"""A filter for system calls: what no command of an agent needs and what leads out of a sandbox.

Used by the keeper, so only light imports.
"""

from __future__ import annotations

import ctypes

from forge.foundation.system.syscalls import PR_SET_SECCOMP, machine, prctl

# Numbers per architecture: x86_64, aarch64; -1 where there is no such call.
_REFUSED = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "unshare": (272, 97),
    "setns": (308, 268),
    "open_by_handle_at": (304, 265),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "quotactl": (179, 60),
    "acct": (163, 89),
    "syslog": (103, 116),
    "vhangup": (153, 58),
    "iopl": (172, -1),
    "ioperm": (173, -1),
}
_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_CLONE, _IOCTL, _SOCKET = (56, 220), (16, 29), (41, 198)
_CLONE3 = 435
_NEW_NAMESPACES = 0x7E020000
_TERMINAL_INJECTION = (0x5412, 0x541C)
_UNIX, _NETLINK = 1, 16
_X32 = 0x40000000
_EPERM, _ENOSYS, _EACCES = 1, 38, 13
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _FIRST, _SECOND = 0, 4, 16, 24

Line = tuple[int, int, int, int]


def filter_calls(sockets: str) -> None:
    """Confines this process for good. `sockets`: "any", "unix" (and netlink) or "none"."""
    program = b"".join(
        code.to_bytes(2, "little") + bytes((yes, no)) + value.to_bytes(4, "little")
        for code, yes, no, value in lines(machine(), sockets)
    )
    text = ctypes.create_string_buffer(program, len(program))
    head = (ctypes.c_uint64 * 2)(len(program) // 8, ctypes.addressof(text))
    prctl(PR_SET_SECCOMP, 2, ctypes.addressof(head))


def lines(architecture: str, sockets: str) -> list[Line]:
    """The filter as instructions: operation, jumps, value."""
    place = list(_ARCHITECTURES).index(architecture)
    program: list[Line] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, _ARCHITECTURES[architecture]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
    ]
    if architecture == "x86_64":
        program += [(_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, _ERRNO | _ENOSYS)]
    for numbers in _REFUSED.values():
        if numbers[place] >= 0:
            program += [(_EQUAL, 0, 1, numbers[place]), (_RETURN, 0, 0, _ERRNO | _EPERM)]
    # The newer call hides its flags behind a pointer; without it libraries use the older one.
    program += [(_EQUAL, 0, 1, _CLONE3), (_RETURN, 0, 0, _ERRNO | _ENOSYS)]
    program += _when(_CLONE[place], _FIRST, [(_ANY_BIT, 0, 1, _NEW_NAMESPACES)], _EPERM)
    for request in _TERMINAL_INJECTION:
        program += _when(_IOCTL[place], _SECOND, [(_EQUAL, 0, 1, request)], _EPERM)
    if sockets == "unix":
        families: list[Line] = [(_EQUAL, 2, 0, _UNIX), (_EQUAL, 1, 0, _NETLINK)]
        program += _when(_SOCKET[place], _FIRST, families, _EACCES)
    elif sockets == "none":
        program += _when(_SOCKET[place], _FIRST, [(_EQUAL, 1, 0, _NETLINK)], _EACCES)
    return [*program, (_RETURN, 0, 0, _ALLOW)]


def _when(number: int, argument: int, test: list[Line], error: int) -> list[Line]:
    """Refuses a call depending on one argument; the number is loaded again for what follows."""
    body: list[Line] = [
        (_LOAD, 0, 0, argument),
        *test,
        (_RETURN, 0, 0, _ERRNO | error),
        (_LOAD, 0, 0, _NUMBER),
    ]
    return [(_EQUAL, 0, len(body), number), *body]
