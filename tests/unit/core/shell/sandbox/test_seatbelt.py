from __future__ import annotations

from forge.core.shell.sandbox.seatbelt import seatbelt_argv, seatbelt_profile
from forge.foundation.system.keeping import Confinement


def test_the_profile_of_a_mac_denies_writes_except_where_they_are_wanted() -> None:
    sandbox = Confinement(
        write=('/Users/x/a"b', "/tmp/t"),
        protect=("/Users/x/w/.git",),
        hide=("/Users/x/.ssh",),
        no_network=True,
    )
    lines = seatbelt_profile(sandbox).split("\n")
    assert lines[:3] == ["(version 1)", "(allow default)", "(deny file-write*)"]
    wanted = [
        '(allow file-write* (subpath "/Users/x/a\\"b"))',
        '(allow file-write* (subpath "/private/tmp/t"))',
        '(deny file-write* (subpath "/Users/x/w/.git"))',
        '(deny file-read* file-write* (subpath "/Users/x/.ssh"))',
        "(deny network*)",
    ]
    places = [lines.index(line) for line in wanted]
    assert places == sorted(places), "later rules win"


def test_a_command_is_run_by_the_sandbox_program() -> None:
    argv = seatbelt_argv(Confinement(), ["/bin/ls", "-l"])
    assert (argv[0], argv[1], argv[3:]) == ("/usr/bin/sandbox-exec", "-p", ["/bin/ls", "-l"])
    assert "network" not in argv[2]
