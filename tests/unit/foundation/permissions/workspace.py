"""The directories and files that the decision tables talk about, and how a table row becomes a decision."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from forge.foundation.permissions.decide import decide, removed
from forge.foundation.permissions.rule import Rule, parse_rule, split_rules
from forge.foundation.permissions.situation import Decision, Situation

SOURCES = {
    "user": "userSettings",
    "local": "localSettings",
    "project": "projectSettings",
    "flag": "flagSettings",
    "cli": "cliArg",
}
FILES = {
    "repo/src/app.ts": "let a = 1\n",
    "repo/vendor/pkg/src/lib.js": "x\n",
    "repo/secrets/key.txt": "k\n",
    "repo/.env": "A=1\n",
    "repo/docs/a.md": "d\n",
    "repo/README.md": "r\nline two\n",
    "repo/package.json": "{}\n",
    "repo/.git/config": "",
    "other/o.txt": "o\n",
    "home/.zshrc": "z\n",
    "home/.claude/settings.json": "{}\n",
}
LINKS = {
    "inlink": "other/o.txt",
    "dirlink": "other",
    "okl": "repo/README.md",
    "srclink": "repo/src",
    "gitl": "repo/.git",
}
FLAGS = ("block_reads_outside", "block_writes_outside", "deny_instead_of_prompting")


def build(root: Path) -> Path:
    """A repository with a neighbour and a home, without running anything."""
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / "repo/build").mkdir()
    for name, target in LINKS.items():
        (root / "repo" / name).symlink_to(root / target)
    return root


def filled(value: str, root: Path) -> str:
    """`{repo}`, `{home}` and `{other}` are directories of the workspace."""
    for name in ("repo", "home", "other"):
        value = value.replace("{" + name + "}", str(root / name))
    return value


def rules(given: dict[str, Any], root: Path) -> list[Rule]:
    """The rules of a row as the named source would have them."""
    source = given.get("source", "user")
    anchors = {"user": root / "home/.claude", "flag": root / "elsewhere"}
    found = []
    for behavior in ("allow", "deny", "ask"):
        texts = [filled(text, root) for text in given.get(behavior, [])]
        if behavior == "allow" and source == "project" and not given.get("trusted"):
            continue
        for text in split_rules(texts) if source == "cli" else texts:
            rule = parse_rule(text, behavior, SOURCES[source], str(anchors.get(source, root / "repo")))
            if isinstance(rule, Rule):
                found.append(rule)
    return found


def situation(given: dict[str, Any], root: Path) -> Situation:
    """The situation a row describes."""
    s = Situation(
        cwd=str(root / "repo"),
        directories=[filled(path, root) for path in given.get("directories", [])],
        home=str(root / "home"),
        mode=given.get("mode", "default"),
        rules=rules(given, root),
        plan_file=filled(given.get("plan_file", ""), root),
    )
    return s.changed(**{flag: True for flag in FLAGS if given.get(flag)})


def call(row: Any) -> tuple[str, dict[str, Any]]:
    """A row is a command, `[file tool, path]`, `[WebFetch, url]` or `[tool, input]`."""
    if isinstance(row, str):
        return "Bash", {"command": row}
    tool, argument = row
    if isinstance(argument, dict):
        return tool, argument
    if tool == "WebFetch":
        return tool, {"url": argument, "prompt": "p"}
    return tool, {"file_path": argument, "content": "z"}


def judge(given: dict[str, Any], row: Any, root: Path) -> Decision:
    """The decision on a row."""
    tool, raw = call(row)
    input = {key: filled(value, root) if isinstance(value, str) else value for key, value in raw.items()}
    return decide(tool, input, situation(given, root))


def verdict(given: dict[str, Any], row: Any, root: Path) -> str:
    """The verdict on a row, or `absent` if the tool is not in the session at all."""
    if removed(call(row)[0], rules(given, root)):
        return "absent"
    return judge(given, row, root).verdict
