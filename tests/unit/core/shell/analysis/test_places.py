from __future__ import annotations

import pytest

from forge.core.shell.analysis.analyse import analyse
from forge.core.shell.analysis.places import is_protected, is_secret, kind_of
from unit.core.shell.analysis.judged import machine


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "root"),
        ("/etc", "system_root"),
        ("/home", "system_root"),
        ("/usr/lib", "system_top"),
        ("/usr/lib/x", "system"),
        ("/etc/passwd", "forbidden_file"),
        ("/home/dev", "home"),
        ("/home/other", "home"),
        ("/home/dev/x", "outside"),
        ("/home/dev/.bashrc", "protected"),
        ("/home/dev/proj", "workspace_root"),
        ("/home/dev/proj/src", "workspace"),
        ("/home/dev/proj/.git", "protected"),
        ("/home/dev/proj/node_modules/x", "regenerable"),
        ("/tmp", "temp_root"),
        ("/tmp/x", "temp"),
        ("/dev/sda", "device"),
        ("/dev/null", "harmless"),
        ("/dev/tcp/h/1", "network"),
        ("/srv/x/y", "system"),
        ("/data/x", "outside"),
    ],
)
def test_paths_have_kinds(path: str, kind: str) -> None:
    assert kind_of(path, machine()) == kind


def test_credentials_are_known_by_their_names() -> None:
    secret = ["a/.env", ".env.local", "/h/.ssh/id_rsa", "x.pem", ".aws/credentials", "/etc/shadow", ".env?"]
    plain = [".env.example", "id_rsa.pub", "env.py", "src/keyboard.py", ".envoy", "package.json"]
    assert [p for p in secret if not is_secret(p)] + [p for p in plain if is_secret(p)] == []


def test_places_that_run_later_are_protected() -> None:
    protected = [
        "/h/.zshrc",
        "x/.git/hooks/pre-commit",
        ".claude/settings.json",
        "a/.vscode/tasks.json",
        ".mcp.json",
    ]
    assert [p for p in protected if not is_protected(p)] == []


@pytest.mark.parametrize(
    ("command", "category"),
    [("rm -rf link", "forbidden"), ("rm -rf link/x", "forbidden"), ("rm -rf build", "caution")],
)
def test_links_on_disk_are_followed(command: str, category: str) -> None:
    around = machine()
    around.real = lambda path: path.replace("/home/dev/proj/link", "/etc")
    assert analyse(command, around).category == category
