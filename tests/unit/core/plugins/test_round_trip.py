from __future__ import annotations

from pathlib import Path

import pytest

from forge.core.plugins.validate import validate
from forge.foundation.jsonfile import patch_json
from forge.foundation.jsonpatch import put

HOOKS = (
    '{"description":"d",\n  "x-own" : [1, 2],\n "hooks": {"Stop": '
    '[ {"hooks":[{"type":"command","command":"true"}]} ]}}\n'
)


@pytest.mark.requirement("S0-07")
def test_a_hooks_file_is_written_back_with_nothing_but_the_change_and_stays_valid(tmp_path: Path) -> None:
    manifest = tmp_path / "kit/.claude-plugin/plugin.json"
    file = tmp_path / "kit/hooks/hooks.json"
    for path, text in ((manifest, '{"name": "kit"}'), (file, HOOKS)):
        path.parent.mkdir(parents=True)
        path.write_text(text)
    for _ in range(2):
        patch_json(str(file), [put(("description",), "new")])
    assert file.read_text() == HOOKS.replace('"d"', '"new"', 1)
    assert validate(str(tmp_path / "kit")).success
