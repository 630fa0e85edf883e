from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from forge.foundation.system.locks import give_name, locked, open_unnamed

HOLDER = """
import sys
from forge.foundation.system.locks import locked
with locked(sys.argv[1]):
    print("locked", flush=True)
    sys.stdin.read()
"""


def test_second_holder_gives_up_after_the_time_limit(tmp_path: Path) -> None:
    with (
        locked(str(tmp_path)),
        pytest.raises(TimeoutError, match="is locked by another process"),
        locked(str(tmp_path), timeout=0),
    ):
        pass


def test_lock_is_free_again_after_use(tmp_path: Path) -> None:
    for _ in range(2):
        with locked(str(tmp_path), timeout=0):
            assert os.listdir(tmp_path) == []


def test_lock_of_a_dead_process_is_free(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"locked\n"
        with pytest.raises(TimeoutError), locked(str(tmp_path), timeout=0):
            pass
        holder.kill()
        holder.wait(timeout=5)
    with locked(str(tmp_path), timeout=0):
        pass


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="files have names from the beginning here")
def test_a_file_without_a_name_is_nowhere_until_it_gets_one(tmp_path: Path) -> None:
    descriptor = open_unnamed(str(tmp_path), 0o640)
    if descriptor is None:
        pytest.skip("the file system of the temporary directory cannot do it")
    try:
        os.write(descriptor, b"whole")
        assert list(tmp_path.iterdir()) == []
        give_name(descriptor, str(tmp_path / "name"))
    finally:
        os.close(descriptor)
    assert (tmp_path / "name").read_bytes() == b"whole"


def test_where_no_file_can_be_made_there_is_none_without_a_name(tmp_path: Path) -> None:
    assert open_unnamed(str(tmp_path / "missing"), 0o600) is None
