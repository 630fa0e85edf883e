"""The repository as a whole: nothing of one machine in it, documents that lead somewhere."""

from __future__ import annotations

import re

import pytest

from forge.hosts.cli.flags import COMMANDS, FLAGS
from house.source import ROOT, text_files

AGENTS_LIMIT = 120

# Written in pieces, so that this file does not find itself. The option alone is no address: what guards
# commands has to know it.
MACHINE = r"(?<![\w.~$})*-])/(?:wor" + r"k|ro" + r"ot)(?=[/\s\"'`:,;)]|$)"
INDEX = r"py" + r"pi\.org|python" + r"hosted|npm" + r"js\.(?:org|com)|index-" + r"url[ =]+\w+:"
FORBIDDEN = {"a machine's own directory": re.compile(MACHINE, re.M), "a package index": re.compile(INDEX)}
LINK = re.compile(r"\[[^\]]*\]\(([^)\s#]+)(?:#[^)]*)?\)")
COMMAND = re.compile(r"^ {4}(?:\$ )?forge (.+)$", re.M)
TARGET = re.compile(r"(?:`|^ {4})make ([a-z]+)", re.M)


def documents() -> dict[str, str]:
    """Documents for people; Markdown below src is text for models."""
    return {
        path: t for path, t in text_files().items() if path.endswith(".md") and not path.startswith("src/")
    }


def test_no_file_mentions_one_machine_or_a_package_index() -> None:
    found = [
        f"{path}:{text.count(chr(10), 0, match.start()) + 1} {what}"
        for path, text in text_files().items()
        for what, pattern in FORBIDDEN.items()
        for match in pattern.finditer(text)
    ]
    assert found == []


def test_the_guide_for_contributors_is_short() -> None:
    assert (ROOT / "AGENTS.md").read_text("utf-8").count("\n") <= AGENTS_LIMIT


def test_links_between_documents_lead_somewhere() -> None:
    broken = [
        f"{path}: {link}"
        for path, text in documents().items()
        for link in LINK.findall(text)
        if "://" not in link and not (ROOT / path).parent.joinpath(link).exists()
    ]
    assert broken == []


def test_documents_name_only_make_targets_that_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    quoted = {(path, name) for path, text in documents().items() for name in TARGET.findall(text)}
    assert {(path, name) for path, name in quoted if name not in targets} == set()


@pytest.mark.requirement("S1-150")
def test_the_guide_names_only_commands_and_flags_that_exist() -> None:
    flags = {name for flag in FLAGS for name in flag.names}
    known = {*flags, *COMMANDS}
    said = [
        (path, words.split()[0].partition("=")[0])
        for path, text in documents().items()
        if path.startswith(("docs/guide", "README"))
        for words in COMMAND.findall(text)
    ]
    unknown = [row for row in said if re.fullmatch(r"-.*|[a-z]+", row[1]) and row[1] not in known]
    pages = {"plugins.md", "hooks.md", "moving.md"}
    assert (unknown, {path for path in pages if f"docs/guide/{path}" not in documents()}) == ([], set())


def test_lock_files_pin_and_hash_everything() -> None:
    for name in ("requirements.lock", "requirements-dev.lock"):
        entries = re.split(r"\n(?=\S)", (ROOT / name).read_text("utf-8").strip())
        assert [e for e in entries if "==" not in e or "--hash=sha256:" not in e] == []
