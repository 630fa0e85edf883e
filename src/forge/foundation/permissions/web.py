"""Decisions on fetching web pages, by host."""

from __future__ import annotations

import re

from forge.foundation.permissions.situation import Decision

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.foundation.permissions.situation import Situation

_URL = re.compile(r"[a-z][a-z0-9+.-]*://(?:[^/?#@]*@)?(\[[^\]]*\]|[^/?#:]*)", re.IGNORECASE)
FREE_HOSTS = frozenset({"docs.python.org"})


def decide_fetch(input: dict[str, object], s: Situation) -> Decision:
    """Decide on a fetch by the rules `WebFetch(domain:…)`."""
    host = host_of(str(input.get("url") or ""))
    for behavior in ("deny", "ask", "allow"):
        for rule in s.having(behavior):
            if rule.tool == "WebFetch" and rule.content is not None and covers(rule.content, host):
                text = f"WebFetch denied access to domain:{host}." if behavior == "deny" else _asking()
                return Decision(behavior, text, reason_type="rule", rule=rule)
    if host in FREE_HOSTS:
        return Decision("allow", reason_type="other", reason="Preapproved host")
    return Decision("ask", _asking(), suggestions=[_always(host)])


def host_of(url: str) -> str:
    """The host of a URL in lower case, without port and user."""
    found = _URL.match(url.strip())
    return found.group(1).lower().rstrip(".") if found else ""


def covers(content: str, host: str) -> bool:
    """Whether `domain:host` covers a host; `*.` stands for any subdomain."""
    if not content.startswith("domain:") or not host:
        return False
    wanted = content[len("domain:") :].lower()
    if wanted == "*":
        return True
    if "*" in wanted:
        return re.fullmatch("[^/]+".join(re.escape(piece) for piece in wanted.split("*")), host) is not None
    return host == wanted


def _asking() -> str:
    return "Claude requested permissions to use WebFetch, but you haven't granted it yet."


def _always(host: str) -> dict[str, object]:
    rule: dict[str, object] = {"toolName": "WebFetch", "ruleContent": f"domain:{host}"}
    return {"type": "addRules", "rules": [rule], "behavior": "allow", "destination": "localSettings"}
