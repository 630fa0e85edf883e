from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from forge.core.plugins.candidates import Request
from forge.core.plugins.component_check import check_text
from forge.core.plugins.discover import discover
from forge.core.plugins.validate import validate
from forge.foundation.paths import find_places
from shared.test_golden_plugins import recorded_verdict, recorded_view, verdict, view

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"
ARCHIVE = CORPUS / "plugins-dev.tar.gz"

pytestmark = pytest.mark.skipif(not ARCHIVE.is_file(), reason="the corpus is not beside this checkout")


def recorded(name: str) -> dict[str, Any]:
    path = CORPUS / name
    return dict(json.loads(path.read_text("utf-8"))) if path.is_file() else {}


VERDICTS = recorded("plugins-dev.verdicts.json").get("plugins", {})
# The reference also calls commands that only people may use skills; the host's list decides that.
COMMANDS_AS_SKILLS = {
    "affaan-m__everything-claude-code",
    "anthropics__claude-plugins-official/plugins/cwc-makers",
}


@pytest.mark.parametrize("name", VERDICTS)
def test_a_public_plugin_gets_the_verdict_of_the_reference(name: str, corpus: Path) -> None:
    root = corpus / name
    assert verdict(validate(str(root)), root) == recorded_verdict(VERDICTS[name]["validate"])


@pytest.mark.requirement("S0-01")
@pytest.mark.parametrize("name", [name for name in VERDICTS if "load" in VERDICTS[name]])
def test_a_public_plugin_brings_what_it_brings_to_the_reference(
    name: str, corpus: Path, tmp_path: Path
) -> None:
    text = json.dumps({"mcp_servers": [], **VERDICTS[name]["load"]})
    expected = json.loads(text.replace("<PLUGIN>", str(corpus / name)))
    places = find_places({"HOME": str(tmp_path)}, str(tmp_path))
    found = view(discover(Request(places, plugin_dirs=[str(corpus / name)])), messages=True)
    wanted = recorded_view(expected, messages=True)
    # The recording was made without servers.
    left_out = {"mcp_servers", "skills"} if name in COMMANDS_AS_SKILLS else {"mcp_servers"}
    assert {k: v for k, v in found.items() if k not in left_out} == {
        k: v for k, v in wanted.items() if k not in left_out
    }


def test_every_front_matter_gets_the_verdict_of_the_reference(corpus: Path) -> None:
    different = []
    for name, said in recorded("plugins-dev.frontmatter.json")["files"].items():
        errors, warnings = check_text((corpus / name).read_bytes().decode("utf-8", "replace"), said["kind"])
        if (bool(errors), bool(warnings)) != (bool(said["errors"]), bool(said["warnings"])):
            different.append(name)
    assert different == []
