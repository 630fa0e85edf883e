"""A review as a document: Markdown for people, JSON for programs."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from forge.core.review.choose import Choice, choose
from forge.core.review.exchange import listing_json
from forge.core.review.feedback import name, plain, where
from forge.core.review.model import Decision, File, Listing, Review, Unit

_TICKS = re.compile("`{3,}")


def export(listing: Listing, review: Review, form: str) -> bytes:
    """The listing with what was decided, as `md` or `json`."""
    choices = choose(listing, review)
    about: dict[str, list[Decision]] = {}
    for decision in review.decisions:
        about.setdefault(decision.hunk, []).append(decision)
    if form == "json":
        return _json(listing, review, choices, about)
    lines = ["# Review", "", _summary(choices), ""]
    if review.comment:
        lines += [plain(review.comment), ""]
    for file in listing.files:
        lines += _file(file, review, choices, about)
    return ("\n".join(lines).rstrip("\n") + "\n").encode()


def _json(
    listing: Listing, review: Review, choices: dict[str, Choice], about: dict[str, list[Decision]]
) -> bytes:
    value: dict[str, Any] = json.loads(listing_json(listing))
    value["comment"] = review.comment
    value["comments"] = msgspec.to_builtins(review.files)
    for file in value["files"]:
        for hunk in file["hunks"]:
            choice = choices[hunk["id"]]
            hunk["verdict"] = choice.verdict
            hunk["rejected"] = sorted(choice.rejected)
            hunk["decisions"] = [msgspec.to_builtins(one) for one in about.get(hunk["id"], [])]
    return json.dumps(value, indent=1).encode() + b"\n"


def _summary(choices: dict[str, Choice]) -> str:
    verdicts = [choice.verdict for choice in choices.values()]
    counts = {verdict: verdicts.count(verdict) for verdict in ("accept", "reject", "pending")}
    accepted, rejected, pending = counts.values()
    return f"{len(verdicts)} hunks: {accepted} accepted, {rejected} rejected, {pending} open."


def _file(
    file: File, review: Review, choices: dict[str, Choice], about: dict[str, list[Decision]]
) -> list[str]:
    moved = f" (was {name(file.old_path)})" if file.old_path != file.path else ""
    lines = [f"## {name(file.path)}{moved}", ""]
    for remark in review.files:
        if remark.path == file.path:
            lines += [f"> {plain(remark.comment)}", ""]
    for unit in file.hunks:
        lines += _unit(file, unit, choices[unit.id], about.get(unit.id, []))
    return lines


def _unit(file: File, unit: Unit, choice: Choice, about: Sequence[Decision]) -> list[str]:
    words = {"accept": "accepted", "reject": "rejected", "pending": "open"}
    verdict = "edited" if choice.edit is not None else words[choice.verdict]
    rule = next((f" by rule: {decision.by}" for decision in about if decision.by), "")
    lines = [f"### {where(unit, file)}: {verdict}{rule}", ""]
    for decision in about:
        texts = [decision.comment, *(remark.text for remark in decision.remarks)]
        lines += [f"> {plain(text)}\n" for text in texts if text]
    body = [plain(line.rstrip(b"\n")) for line in unit.lines]
    if not body:
        return lines
    fence = "`" * max([3, *(len(run) + 1 for line in body for run in _TICKS.findall(line))])
    return [*lines, f"{fence}diff", *body, fence, ""]
