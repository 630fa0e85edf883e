"""Forge repeats the recorded plugin cases: same lists, same texts for the model, same verdicts.

Exact are names, exit codes, listing lines and rendered texts; messages and the program's own standing prose
may have other words. What differs beyond that is in `plugin_differences.json`, each with its reason.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forge.agent.texts.load import text
from shared.oracles import TOOLS, load
from warm import warm_forge

GOLDEN = TOOLS.parent / "golden" / "plugins"
CASES = sorted(path.parent.name for path in GOLDEN.glob("*/case.json"))
# A case with many directories is cut into parts: one test must not take long.
MOST = 14


def parts(case: str) -> range:
    targets = json.loads((GOLDEN / case / "case.json").read_text("utf-8")).get("targets", [])
    return range(max(1, -(-len(targets) // MOST)))


PARTS = [(case, part) for case in CASES for part in parts(case)]
DIFFERENCES: dict[str, dict[str, str]] = json.loads(
    (Path(__file__).parent / "plugin_differences.json").read_text("utf-8")
)

pytestmark = pytest.mark.skipif(not GOLDEN.is_dir(), reason="the recordings are not beside this checkout")

# Forge's own standing context, which the recordings leave out as well.
STANDING = ("You run on the model", "# Git status at the start", text("deferred_tools")[:40])
IGNORED = re.compile(
    r"\.(main_models|requests|cli_version|stderr|sub_agent_request\.(model|tools(\[\d+\])?))$"
)
# These print what the reference prints, but for its name and how it guesses the tokens of a skill.
WORD_FOR_WORD = ("10-marketplace", "11-marketplace-errors", "12-dependencies-and-clashes")
NAMES = (("claude plugin", "forge plugin"), ("~10 tok", "~3 tok"))
AFTER_AGENTS = "When you launch multiple agents"
# Where only the presence of a text counts.
WORDED = re.compile(r"\.(message|notes|raw)(\[\d+\])?$|\.cli\[\d+\]\.(stdout|stderr)$")


@pytest.fixture(scope="session")
def oracle() -> Iterator[Any]:
    """The tool that made the recordings, with Forge in the place of the reference."""
    tool = load("plugin_oracle")
    lab = tool.Lab(str(warm_forge()), 0)
    tool.NOISE += STANDING
    squash, texts = tool.squash, tool.texts
    tool.squash = lambda words: squash(own_words(words))
    tool.texts = lambda content: [t.replace(text("agent_listing"), AFTER_AGENTS) for t in texts(content)]
    yield tool, lab
    lab.srv.shutdown()
    lab.srv.server_close()


@pytest.mark.parametrize(("case", "part"), PARTS)
def test_a_recorded_plugin_case_is_repeated(case: str, part: int, oracle: Any, tmp_path: Path) -> None:
    tool, lab = oracle
    got = tool.run_case(lab, only(case, part, tmp_path / "case"))
    expected = json.loads((GOLDEN / case / "expected.json").read_text("utf-8"))
    if len(parts(case)) > 1:
        expected["targets"] = {name: expected["targets"][name] for name in got["targets"]}
    known = DIFFERENCES.get(case, {})
    found = {p: (a, b) for p, a, b in differences(plain(expected), plain(got), "") if not IGNORED.search(p)}
    assert {path: pair for path, pair in found.items() if not covered(path, known)} == {}
    assert [pattern for pattern in known if not any(re.search(pattern, path) for path in found)] == []
    if case in WORD_FOR_WORD:
        assert (got["cli"], got.get("files")) == printed(case)


def printed(case: str) -> tuple[Any, Any]:
    """What the commands of a case print and write."""
    words = (GOLDEN / case / "expected.json").read_text("utf-8")
    for pair in NAMES:
        words = words.replace(*pair)
    wanted = json.loads(words)
    return wanted["cli"], wanted.get("files")


def only(case: str, part: int, place: Path) -> Path:
    """The directory of a case, or a copy of it with some of its targets."""
    if len(parts(case)) == 1:
        return GOLDEN / case
    shutil.copytree(GOLDEN / case, place, symlinks=True)
    spec = json.loads((place / "case.json").read_text("utf-8"))
    spec["targets"] = spec["targets"][part * MOST : (part + 1) * MOST]
    (place / "case.json").write_text(json.dumps(spec), "utf-8")
    return place


def own_words(words: str) -> str:
    """Forge's preambles under the marks by which the tool knows the reference's."""
    for name, mark in (("memory", "Codebase and user instructions are shown below"),):
        words = words.replace(f"<system-reminder>\n{text(name)}\n\n", f"<system-reminder>\n{mark}\n\n")
    frame = text("agent_handback")
    return words.replace(frame, "[Subagent hand-back] The report follows:")


def plain(outcome: dict[str, Any]) -> dict[str, Any]:
    """An outcome without the order of findings and without the list of skills sub-agents get."""
    for target in outcome["targets"].values():
        for key in ("errors", "warnings"):
            rows = target["validate"].get(key) or []
            target["validate"][key] = sorted({re.sub(r"\[(\d+)\]", r".\1", row["path"]) for row in rows})
    for run in outcome["runs"]:
        asked = run.get("sub_agent_request", {"first_user": []})
        asked["first_user"] = [t for t in asked["first_user"] if "The following skills are" not in t[:80]]
    return outcome


def covered(path: str, known: dict[str, str]) -> bool:
    return any(re.search(pattern, path) for pattern in known)


def differences(a: Any, b: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    """Where two outcomes differ, by path."""
    if WORDED.search(path) and bool(a) == bool(b):
        return
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted(a.keys() | b.keys()):
            yield from differences(a.get(key), b.get(key), f"{path}.{key}")
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for n, (one, other) in enumerate(zip(a, b, strict=True)):
            name = one.get("name", n) if isinstance(one, dict) else n
            yield from differences(one, other, f"{path}[{name}]")
    elif a != b:
        yield path, a, b
