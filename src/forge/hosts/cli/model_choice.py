"""Which model a run would use and why, in words; shared by `forge models` and `forge doctor`."""

from __future__ import annotations

import msgspec

from forge.core.models.catalog import Choice, resolve
from forge.foundation.errors import ForgeError
from forge.hosts.configuration import Configuration
from forge.hosts.options import RunOptions


class Chosen(msgspec.Struct, frozen=True):
    """The choice, or the problem that prevents one; `named` is false when nobody has named a model."""

    choice: Choice | None
    why: str
    problem: str = ""
    named: bool = False


def choose(o: RunOptions, c: Configuration) -> Chosen:
    """What `forge -p` would use with this configuration."""
    name, why = _named(o, c)
    try:
        choice = resolve(o.model, c.env, c.settings.get)
    except ForgeError as error:
        return Chosen(None, why, str(error), bool(name))
    return Chosen(choice, why if name else "no other model was named", named=bool(name))


def key_words(source: str) -> str:
    """Where a key comes from, in words."""
    if source == "none":
        return "no key"
    return "key from the apiKeyHelper command" if source == "apiKeyHelper" else f"key in {source}"


def _named(o: RunOptions, c: Configuration) -> tuple[str, str]:
    if o.model:
        return o.model, f"--model says {o.model}"
    variable = c.env.get("ANTHROPIC_MODEL", "")
    if variable:
        return variable, f"the variable ANTHROPIC_MODEL says {variable}"
    setting = c.settings.get("model")
    if setting:
        return setting, f"the setting `model` in {c.settings.origin('model')} says {setting}"
    return "", "no model was named"
