from __future__ import annotations

import os
import subprocess
import sys

from forge.foundation.system.liveness import is_alive, process_start


def test_a_running_process_is_alive_and_an_ended_one_is_not() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    me = os.getpid()
    found = [is_alive(me), is_alive(me, process_start(me)), is_alive(ended.pid), is_alive(0), is_alive(1)]
    assert found == [True, True, False, False, True]


def test_another_process_with_the_same_number_is_not_the_same() -> None:
    started = process_start(os.getpid())
    assert is_alive(os.getpid(), started + 1) is (started == 0)


def test_the_start_of_a_process_nobody_knows_is_unknown() -> None:
    assert process_start(999_999_999) == 0
