"""The `forgecmd` part of a settings file: rules, thresholds and what the workspace is."""

from __future__ import annotations

from forge.core.shell.analysis.decide import Thresholds
from forge.core.shell.analysis.rules import KINDS, RuleSet, load_rules, permission_rules
from forge.foundation.errors import ConfigError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _typeshed import Incomplete

_NAMES = {"autoApprove": "auto", "sessionApprove": "session", "alwaysAsk": "always_ask", "block": "block"}


class Policy:
    """What the user decided in advance. `extra` may be written, `deny` is protected.

    `enabled` is false where forgecmd is switched off; `daemon`: its guard may stay in memory.
    """

    __slots__ = ("daemon", "deny", "enabled", "extra", "rules", "thresholds")

    def __init__(self) -> None:
        self.rules = RuleSet()
        self.thresholds = Thresholds()
        self.extra: tuple[str, ...] = ()
        self.deny: tuple[str, ...] = ()
        self.enabled = True
        self.daemon = False


def add_settings(policy: Policy, settings: dict[str, Incomplete], source: str, trusted: bool = True) -> None:
    """Adds one settings file; a project that is not trusted can make things stricter, never wider."""
    own = _of_kind(settings, "forgecmd", dict, source)
    permissions = _of_kind(settings, "permissions", dict, source)
    rules = _of_kind(own, "forgecmd.rules", dict, source)
    workspace = _of_kind(own, "forgecmd.workspace", dict, source)
    for kind in KINDS:
        _of_kind(rules, f"forgecmd.rules.{kind}", list, source)
        _of_kind(permissions, f"permissions.{kind}", list, source)
    policy.rules.rules += load_rules(rules, source, trusted)
    policy.rules.rules += permission_rules(permissions, source, trusted)
    policy.deny += _paths(workspace, "forgecmd.workspace.deny", source)
    if trusted:
        policy.extra += _paths(workspace, "forgecmd.workspace.extraWrite", source)
        policy.extra += _paths(permissions, "permissions.additionalDirectories", source)
        policy.enabled = own["mode"] != "off" if "mode" in own else policy.enabled
        policy.daemon = own.get("daemon", policy.daemon) is True
    _thresholds(policy.thresholds, _of_kind(own, "forgecmd.riskThresholds", dict, source), source, trusted)


def _of_kind(holder: dict[str, Incomplete], key: str, kind: type, source: str) -> Incomplete:
    """The value of a key (named by its whole path), or an empty one; a wrong kind of value is an error."""
    value = holder.get(key.rpartition(".")[2])
    if value is None:
        return kind()
    if not isinstance(value, kind):
        wanted = "an object" if kind is dict else "a list"
        raise ConfigError(f"{key}: expected {wanted}", path=source)
    return value


def _paths(workspace: dict[str, Incomplete], key: str, source: str) -> tuple[str, ...]:
    found = _of_kind(workspace, key, list, source)
    for at, value in enumerate(found):
        if not isinstance(value, str):
            raise ConfigError(f"{key}[{at}]: expected a path", path=source)
    return tuple(found)


def _thresholds(thresholds: Thresholds, data: dict[str, Incomplete], source: str, trusted: bool) -> None:
    for name, value in data.items():
        if name not in _NAMES or not isinstance(value, int) or not 0 <= value <= 10:
            known = ", ".join(_NAMES)
            raise ConfigError(
                f"forgecmd.riskThresholds.{name}: expected a number from 0 to 10 for one of {known}",
                path=source,
            )
        if trusted or value < getattr(thresholds, _NAMES[name]):
            setattr(thresholds, _NAMES[name], value)
