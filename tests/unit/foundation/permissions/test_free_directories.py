from __future__ import annotations

from pathlib import Path

import pytest

from forge.foundation.permissions.decide import decide
from forge.foundation.permissions.rule import Rule, parse_rule
from forge.foundation.permissions.situation import Situation


def rules(text: str) -> list[Rule]:
    parsed = parse_rule(text, "deny", "userSettings", "/")
    return [parsed] if isinstance(parsed, Rule) else []


@pytest.mark.parametrize(
    ("tool", "arguments", "verdict"),
    [
        ("Write", {"file_path": "{notes}/a.md"}, "allow"),
        ("Edit", {"file_path": "{notes}/a.md"}, "allow"),
        ("Read", {"file_path": "{notes}/a.md"}, "allow"),
        ("Bash", {"command": "echo a > {notes}/a.md"}, "allow"),
        ("Bash", {"command": "rm {notes}/a.md"}, "ask"),
        ("Write", {"file_path": "{notes}/../settings.json"}, "ask"),
        ("Write", {"file_path": "{notes}-other/a.md"}, "ask"),
    ],
)
def test_a_directory_of_notes_is_written_without_asking(
    tool: str, arguments: dict[str, str], verdict: str, tmp_path: Path
) -> None:
    notes = str(tmp_path / ".claude" / "memory")
    given = {key: value.replace("{notes}", notes) for key, value in arguments.items()}
    s = Situation(cwd=str(tmp_path / "project"), home=str(tmp_path), free_write_dirs=[notes])
    assert decide(tool, dict(given), s).verdict == verdict
    denied = s.changed(rules=rules(f"Edit(/{notes}/**)"))
    assert decide("Write", {"file_path": f"{notes}/a.md"}, denied).verdict == "deny"
