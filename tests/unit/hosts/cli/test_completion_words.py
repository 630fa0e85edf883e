from __future__ import annotations

from pathlib import Path

import pytest

from forge.hosts.cli.completion_words import complete
from unit.core.installing.workshop import Bench, shop, write


@pytest.mark.requirement("S1-131")
@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("pl", ["plugin"]),
        ("plugin ins", ["install"]),
        ("plugin marketplace ", ["add", "list", "remove", "update"]),
        ("plugin marketplace remove ", ["shop"]),
        ("plugin enable ", ["tool@shop"]),
        ("plugin uninstall --keep-data t", ["tool@shop"]),
        ("plugins info ", ["tool@shop"]),
        ("plugin install ", ["other@shop", "tool@shop"]),
        ("plugin install ./", []),
        ("plugin install tool@shop --sc", ["--scope"]),
        ("plugin install --scope ", ["local", "project", "user"]),
        ("plugin init x --with ag", ["agents"]),
        ("--output-format ", ["json", "stream-json", "text"]),
        ("--output-f", ["--output-format"]),
        ("completion ", ["bash", "fish", "zsh"]),
        ("sessions sh", ["show"]),
        ("sessions show ", ["11111111-2222-4333-8444-555555555555"]),
        ("sessions export --format ", ["json", "markdown"]),
        ("config g", ["get"]),
        ("agent ", ["info", "list", "new"]),
        ("agent info Ex", ["Explore"]),
        ("skill info n", []),
    ],
)
def test_last_word_is_completed(tmp_path: Path, line: str, found: list[str]) -> None:
    bench, root = Bench(tmp_path), shop(tmp_path / "shop")
    write(
        root,
        {
            ".claude-plugin/marketplace.json": {
                "name": "shop",
                "owner": {"name": "o"},
                "plugins": [{"name": "tool", "source": "./tool"}, {"name": "other", "source": "./other"}],
            }
        },
    )
    bench("marketplace", "add", root)
    bench("install", "tool")
    slug = str(bench.project).replace("/", "-").replace("_", "-")
    write(bench.claude / "projects" / slug, {"11111111-2222-4333-8444-555555555555.jsonl": "{}\n"})
    assert complete(line.split(" "), bench.env(), str(bench.project)) == found
