from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from forge.agent.skills.ecosystem import Ecosystem
from forge.agent.team.agents import agent_names
from forge.core.components.listing import Limits, announced_skills, listing, typable
from forge.hosts.configuration import load_configuration
from forge.hosts.options import RunOptions
from forge.hosts.parts.components import Components

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"
ARCHIVE, VERDICTS = CORPUS / "plugins-dev.tar.gz", CORPUS / "plugins-dev.verdicts.json"
KEYS = ("slash_commands", "skills", "agents", "listed_skills")

pytestmark = pytest.mark.skipif(not ARCHIVE.is_file(), reason="the corpus is not beside this checkout")


def lists(root: Path, home: Path) -> dict[str, list[str]]:
    """What a session with this plugin announces, in its order."""
    o = RunOptions(plugin_dir=[str(root)])
    c = load_configuration(o, {"HOME": str(home), "PATH": "/bin"}, str(home))
    components, eco = Components(o, c), Ecosystem()
    components.describe(eco, o, c)
    catalog, view = components.catalog, eco.view
    told = listing(catalog, view, Limits(400_000, 1536)).splitlines()
    return {
        "slash_commands": typable(catalog, view),
        "skills": announced_skills(catalog, view),
        "agents": [name for name in agent_names(catalog.agents) if ":" in name],
        "listed_skills": [line for line in told if line.startswith("- ")],
    }


def recorded(load: dict[str, Any], root: Path) -> dict[str, list[str]]:
    return {key: [text.replace("<PLUGIN>", str(root)) for text in load.get(key) or []] for key in KEYS}


@pytest.mark.requirement("S0-56")
def test_a_session_announces_what_public_plugins_bring_in_the_recorded_order(
    home: Path, corpus: Path
) -> None:
    plugins = json.loads(VERDICTS.read_text("utf-8"))["plugins"]
    loads = {name: row["load"] for name, row in plugins.items() if isinstance(row.get("load"), dict)}
    assert len(loads) > 100
    wanted = {name: recorded(load, corpus / name) for name, load in loads.items()}
    assert {name: lists(corpus / name, home) for name in loads} == wanted
