"""Reads what a provider's own web search has found, whichever API answered."""

from __future__ import annotations

from typing import Any

from forge.core.message import Block, Message
from forge.core.models.openai_parts import text_of
from forge.core.models.responses_stream import ITEM, is_search
from forge.core.search import Finding, Link, Links


def read_findings(message: Message) -> list[Finding]:
    """Texts and lists of links in the order they came; texts without a search between them are one."""
    found: list[Finding] = []
    said: list[str] = []
    cited: dict[str, Link] = {}
    for block in message.blocks:
        said.append(text_of(block))
        cited |= {link.url: link for link in _citations(block)}
        finding = _finding(block)
        if finding is not None or _begins_search(block):
            _flush(found, said)
        if finding is not None:
            found.append(finding)
    _flush(found, said)
    return _titled(found, cited)


def count_searches(message: Message) -> int:
    """How often the provider has searched."""
    return sum(_begins_search(block) for block in message.blocks)


def _flush(found: list[Finding], said: list[str]) -> None:
    words = "".join(said).strip()
    said.clear()
    if words:
        found.append(words)


def _finding(block: Block) -> Finding | None:
    if not isinstance(block, dict):
        return None
    if block.get("type") == "web_search_tool_result":
        return _result(str(block.get("tool_use_id", "")), block.get("content"))
    item = block.get("item") or {}
    if block.get("type") == ITEM and item.get("type") == "web_search_call":
        sources = (item.get("action") or {}).get("sources")
        return None if sources is None else Links(str(item.get("id", "")), _links(sources))
    return None


def _result(search: str, content: Any) -> Finding:
    if isinstance(content, list):
        return Links(search, _links(content))
    code = content.get("error_code") if isinstance(content, dict) else None
    return f"Web search error: {code or 'unknown'}"


def _begins_search(block: Block) -> bool:
    if not isinstance(block, dict):
        return False
    return block.get("type") == "server_tool_use" or is_search(block.get("item") or {})


def _citations(block: Block) -> list[Link]:
    return _links(block.get("citations") or ()) if isinstance(block, dict) else []


def _links(raw: Any) -> list[Link]:
    rows = [row for row in raw if isinstance(row, dict) and isinstance(row.get("url"), str)]
    return [Link(str(row.get("title") or ""), row["url"]) for row in rows]


def _titled(found: list[Finding], cited: dict[str, Link]) -> list[Finding]:
    """Addresses that came without a title get the one they are cited by; without addresses, the citations."""
    lists = [finding for finding in found if isinstance(finding, Links)]
    if not lists and cited:
        return [Links("", list(cited.values())), *found]
    return [
        Links(f.tool_use_id, [link if link.title else cited.get(link.url, link) for link in f.content])
        if isinstance(f, Links)
        else f
        for f in found
    ]
