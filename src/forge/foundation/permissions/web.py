"""Decisions on fetching web pages, by host."""

from __future__ import annotations

import re

from forge.foundation.permissions.situation import Decision
from forge.foundation.permissions.syntax import word_set

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.foundation.permissions.situation import Situation

_URL = r"(?i)[a-z][a-z0-9+.-]*://(?:[^/?#]*@)?(\[[^\]]*\]|[^/?#:]*)"
FREE_HOSTS = word_set(
    """agentskills.io angular.io asp.net blazor.net bun.sh cloud.google.com code.claude.com d3js.org
    dev.mysql.com devcenter.heroku.com developer.android.com developer.apple.com developer.mozilla.org
    doc.rust-lang.org docs.aws.amazon.com docs.djangoproject.com docs.flutter.dev docs.netlify.com
    docs.oracle.com docs.python.org docs.spring.io docs.stripe.com docs.swift.org dotnet.microsoft.com
    en.cppreference.com expressjs.com fastapi.tiangolo.com flask.palletsprojects.com getbootstrap.com
    git-scm.com gradle.org graphql.org httpd.apache.org jestjs.io jquery.com keras.io kotlinlang.org
    kubernetes.io laravel.com learn.microsoft.com matplotlib.org maven.apache.org
    modelcontextprotocol.io nextjs.org nginx.org nodejs.org numpy.org pandas.pydata.org
    platform.claude.com pytorch.org react.dev reactnative.dev reactrouter.com redis.io redux.js.org
    requests.readthedocs.io ruby-doc.org scikit-learn.org selenium.dev spark.apache.org symfony.com
    tailwindcss.com threejs.org tomcat.apache.org vuejs.org webpack.js.org www.docker.com
    www.mongodb.com www.php.net www.postgresql.org www.sqlite.org www.tensorflow.org www.terraform.io
    www.typescriptlang.org"""
)


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
    found = re.match(_URL, url.strip())
    return found.group(1).lower().rstrip(".") if found else ""


def covers(content: str, host: str) -> bool:
    """Whether `domain:host` covers a host; `*.` means any subdomain, another `*` part of one label."""
    if not content.startswith("domain:") or not host:
        return False
    wanted = content[len("domain:") :].strip().lower()
    if wanted == "*":
        return True
    if wanted.startswith("*."):
        return host.endswith(wanted[1:]) and len(host) >= len(wanted)
    return re.fullmatch("[^.]*".join(re.escape(piece) for piece in wanted.split("*")), host) is not None


def _asking() -> str:
    return "Claude requested permissions to use WebFetch, but you haven't granted it yet."


def _always(host: str) -> dict[str, object]:
    rule: dict[str, object] = {"toolName": "WebFetch", "ruleContent": f"domain:{host}"}
    return {"type": "addRules", "rules": [rule], "behavior": "allow", "destination": "localSettings"}
