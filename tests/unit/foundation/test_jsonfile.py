from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from forge.foundation.errors import ConfigError
from forge.foundation.jsonfile import patch_json, read_json, update_json
from forge.foundation.jsonpatch import put

WRITERS = """
import os, sys
from forge.foundation.jsonfile import patch_json
from forge.foundation.jsonpatch import put
for name in range(8):
    if os.fork() == 0:
        for number in range(25):
            patch_json(sys.argv[1], [put((f"p{name}-{number}",), number)])
        os._exit(0)
sys.exit(max(os.wait()[1] for _ in range(8)))
"""

ENDLESS_WRITER = """
import sys
from forge.foundation.jsonfile import patch_json
from forge.foundation.jsonpatch import put
number = 0
while True:
    patch_json(sys.argv[1], [put(("number",), number), put(("padding",), "x" * (number % 50 * 1000))])
    number += 1
    print(number, flush=True)
"""

FULL_DISK = """
import resource, sys
from forge.foundation.errors import ConfigError
from forge.foundation.jsonfile import patch_json
from forge.foundation.jsonpatch import put
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
try:
    patch_json(sys.argv[1], [put(("long",), "x" * 1000)])
except ConfigError as error:
    sys.stdout.write(str(error))
"""


def start(code: str, *args: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", code, *args], stdout=subprocess.PIPE, text=True)


def test_read_gives_value_and_text(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_bytes(b'\xef\xbb\xbf{"a": 1}\r\n')
    assert read_json(str(file)) == ({"a": 1}, '\ufeff{"a": 1}\r\n')


@pytest.mark.parametrize(
    ("content", "value"),
    [
        (b"", {}),
        (b" \n", {}),
        (b'{"a": "\xe9"}', {"a": "�"}),
        (b'{"a": "\\ud800"}', {"a": "�"}),
        ('{"a": "é"}'.encode("utf-16"), {"a": "é"}),
    ],
)
def test_odd_but_usable_content_is_read(tmp_path: Path, content: bytes, value: object) -> None:
    file = tmp_path / "a.json"
    file.write_bytes(content)
    assert read_json(str(file))[0] == value


def test_broken_file_is_an_error_with_position(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text('{\n  "a": 1,\n}')
    with pytest.raises(ConfigError) as caught:
        read_json(str(file))
    assert str(caught.value) == f"{file}:2:9: a comma before the closing bracket is not allowed"


def test_missing_file_is_not_a_configuration_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_json(str(tmp_path / "none.json"))


def test_directory_in_place_of_the_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        read_json(str(tmp_path))


@pytest.mark.requirement("S0-05")
def test_patch_creates_file_and_directories(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "er" / "settings.json"
    assert patch_json(str(file), [put(("model",), "opus")])
    assert file.read_text() == '{\n  "model": "opus"\n}\n'
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_shared_file_gets_the_usual_mode(tmp_path: Path) -> None:
    old = os.umask(0o022)
    try:
        patch_json(str(tmp_path / "a" / "settings.json"), [put(("a",), 1)], private=False)
    finally:
        os.umask(old)
    assert (tmp_path / "a" / "settings.json").stat().st_mode & 0o777 == 0o644


def test_patch_that_changes_nothing_does_not_write(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text('{"a": 1.0}')
    before = file.stat()
    assert not patch_json(str(file), [put(("a",), 1)])
    after = file.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_patch_keeps_bytes_that_are_not_text(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_bytes(b'{"a": "\xff\xfe\xe9", "b": 1}')
    patch_json(str(file), [put(("b",), 2)])
    assert file.read_bytes() == b'{"a": "\xff\xfe\xe9", "b": 2}'


def test_patch_keeps_the_encoding_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_bytes('{"a": "é"}'.encode("utf-16"))
    patch_json(str(file), [put(("b",), 1)])
    assert file.read_bytes().decode("utf-16") == '{"a": "é", "b": 1}'


def test_update_writes_only_the_difference(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text('{"a":1.0,  "b":[1],"c":{"d":1}}')

    def change(data: dict[str, object]) -> dict[str, object]:
        return {"a": data["a"], "b": [1, 2], "c": {"d": 1, "e": 2}}

    assert update_json(str(file), change)
    assert file.read_text() == '{"a":1.0,  "b":[1,2],"c":{"d":1,"e":2}}'
    assert not update_json(str(file), lambda data: data)


def test_update_of_a_list_file_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text("[]")
    with pytest.raises(ConfigError, match="expected an object"):
        update_json(str(file), lambda data: data)


def test_broken_file_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text("{oops")
    with pytest.raises(ConfigError, match=r"a\.json:1:2: expected a key in double quotes"):
        patch_json(str(file), [put(("a",), 1)])
    assert file.read_text() == "{oops"


def test_nothing_is_lost_when_eight_processes_write(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text('{"mine": 1.0}')
    with start(WRITERS, str(file)) as writers:
        assert writers.wait(timeout=5) == 0
    data = json.loads(file.read_text())
    wanted = {f"p{name}-{number}": number for name in range(8) for number in range(25)}
    assert data == {"mine": 1.0, **wanted}
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.json"]


@pytest.mark.parametrize("writes", [1, 7, 20])
def test_killed_writer_leaves_a_whole_file(tmp_path: Path, writes: int) -> None:
    file = tmp_path / "a.json"
    writer = start(ENDLESS_WRITER, str(file))
    assert writer.stdout is not None
    for _ in range(writes):
        writer.stdout.readline()
    os.kill(writer.pid, signal.SIGKILL)
    writer.wait(timeout=5)
    writer.stdout.close()
    assert json.loads(file.read_text())["number"] >= writes - 1
    assert patch_json(str(file), [put(("after",), True)])
    assert json.loads(file.read_text())["after"] is True
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.json"]


def test_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text('{"a": 1}')
    with start(FULL_DISK, str(file)) as child:
        said, _ = child.communicate(timeout=5)
    assert said == f"{file}: cannot write: File too large; the file is unchanged"
    assert file.read_text() == '{"a": 1}'
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.json"]
