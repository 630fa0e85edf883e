"""Whether there is a CLI that can be used, and why not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fake_claude import FakeClaude
from forge.core.models.catalog import find_installed, known_models, open_model, resolve
from forge.core.models.claude_cli.locate import Program, find_program
from forge.core.models.providers import read_providers
from forge.foundation.errors import ConfigError, ForgeError, UsageError


def env(home: Path, folder: Path) -> dict[str, str]:
    return {"HOME": str(home), "PATH": f"/nowhere:relative:{folder}"}


def row(**more: Any) -> Any:
    return {"providers": {"claude-code": more}}.get


@pytest.mark.requirement("S4-02")
def test_it_is_found_on_the_path_and_asked_once_per_file(home: Path, tmp_path: Path) -> None:
    cli = FakeClaude(tmp_path / "bin", version="2.1.325 (Claude Code)")
    for _ in range(3):
        assert find_program("claude", env(home, cli.folder)) == Program(str(cli.path), (2, 1, 325))
    assert cli.noted("asked") == ["version"]
    FakeClaude(tmp_path / "bin", version="2.1.400 (Claude Code)")
    cli.path.write_text(cli.path.read_text() + "# another file\n")
    assert find_program("claude", env(home, cli.folder)).version == (2, 1, 400)


def test_a_path_in_the_settings_comes_before_the_search_path(home: Path, tmp_path: Path) -> None:
    FakeClaude(tmp_path / "bin", version="1.0.0")
    mine = FakeClaude(tmp_path / "mine", version="2.1.100 (Claude Code)")
    providers, problems = read_providers(row(enabled=True, program=str(mine.path)))
    words = find_installed(providers["claude-code"], env(home, tmp_path / "bin"))
    assert (words, problems) == (f"Claude Code 2.1.100 at {mine.path}, model mode", [])


@pytest.mark.requirement("S4-11")
@pytest.mark.parametrize(
    ("plan", "mode", "name", "message"),
    [
        ({}, 0o755, "nothing", "The program `nothing` was not found on the PATH."),
        ({}, 0o755, "{}/other", "There is no program {}/other."),
        ({}, 0o644, "claude", "{}/claude may not be executed by this user."),
        (
            {"version": "hello"},
            0o755,
            "claude",
            "{}/claude --version printed 'hello', which is not a version",
        ),
        ({"version_code": 3}, 0o755, "claude", "{}/claude --version failed with exit code 3"),
    ],
)
def test_what_is_wrong_with_it_is_said(
    plan: dict[str, Any], mode: int, name: str, message: str, home: Path, tmp_path: Path
) -> None:
    cli = FakeClaude(tmp_path, **plan)
    cli.path.chmod(mode)
    with pytest.raises(UsageError) as raised:
        find_program(name.format(tmp_path), env(home, tmp_path))
    assert raised.value.message.startswith(message.format(tmp_path))
    assert raised.value.hint


def test_a_file_that_is_no_program_is_an_error_of_the_system(home: Path, tmp_path: Path) -> None:
    (tmp_path / "claude").write_bytes(b"\x7fELF nonsense")
    (tmp_path / "claude").chmod(0o755)
    with pytest.raises(UsageError, match=r"claude cannot be started: Exec format error"):
        find_program("claude", env(home, tmp_path))


@pytest.mark.requirement("S4-01")
def test_it_is_off_until_it_is_switched_on(home: Path, tmp_path: Path) -> None:
    cli = FakeClaude(tmp_path)
    where = env(home, cli.folder)
    with pytest.raises(UsageError) as raised:
        resolve("claude-code/sonnet", where, row())
    assert raised.value.message == "The provider claude-code is switched off."
    assert "forge models enable claude-code" in raised.value.hint
    assert "account" in raised.value.hint
    assert not [card for card in known_models(row()) if card.provider == "claude-code"]
    listed = [card.ref for card in known_models(row(enabled=True)) if card.provider == "claude-code"]
    assert listed == [f"claude-code/{name}" for name in ("sonnet", "opus", "haiku", "fable", "default")]
    for name in (*listed, "claude-code/claude-opus-4-1"):
        choice = resolve(name, where, row(enabled=True))
        assert (choice.card.ref, choice.key_source, choice.card.price) == (name, "none", None)


@pytest.mark.requirement("S4-02")
def test_without_the_program_it_cannot_be_chosen(home: Path, tmp_path: Path) -> None:
    for use in (resolve, open_model):
        with pytest.raises(UsageError, match="was not found"):
            use("claude-code/sonnet", env(home, tmp_path), row(enabled=True))


@pytest.mark.parametrize(
    ("version", "options", "message"),
    [
        ("2.1.88 (Claude Code)", {}, "is version 2.1.88; model mode needs 2.1.89 or newer."),
        ("2.1.88 (Claude Code)", {"mode": "agent"}, ""),
        ("1.0.30 (Claude Code)", {"mode": "agent"}, "is version 1.0.30; agent mode needs 1.0.109 or newer."),
        ("2.1.325", {"mode": "other"}, "Invalid enum value 'other'"),
        ("2.1.325", {"idleSeconds": "long"}, "Expected `float`, got `str`"),
    ],
)
def test_a_version_or_an_option_that_does_not_do_is_named(
    version: str, options: dict[str, Any], message: str, home: Path, tmp_path: Path
) -> None:
    cli = FakeClaude(tmp_path, version=version)
    try:
        resolve("claude-code/sonnet", env(home, cli.folder), row(enabled=True, options=options))
        said = ""
    except ForgeError as error:
        said = error.message
    assert message in said
    assert bool(message) == bool(said)


def test_a_program_cannot_be_named_for_a_server() -> None:
    setting = {"providers": {"openai": {"program": "x"}, "claude-code": {"protocol": "claude_cli"}}}.get
    _, problems = read_providers(setting)
    assert [problem.key for problem in problems] == ["providers.openai", "providers.claude-code"]
    with pytest.raises(ConfigError, match="for a provider that is a program"):
        resolve("openai/x", {}, setting)
