"""The `forgecmd` part of a settings file: rules, thresholds and what the workspace is."""

from __future__ import annotations

from forge.core.shell.analysis.decide import Thresholds
from forge.core.shell.analysis.rules import RuleSet, load_rules, permission_rules
from forge.foundation.errors import ConfigError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _typeshed import Incomplete

_NAMES = {"autoApprove": "auto", "sessionApprove": "session", "alwaysAsk": "always_ask", "block": "block"}


class Policy:
    """What the user decided in advance. `extra` may be written, `deny` is protected."""

    __slots__ = ("deny", "extra", "rules", "thresholds")

    def __init__(self) -> None:
        self.rules = RuleSet()
        self.thresholds = Thresholds()
        self.extra: tuple[str, ...] = ()
        self.deny: tuple[str, ...] = ()


def add_settings(policy: Policy, settings: dict[str, Incomplete], source: str, trusted: bool = True) -> None:
    """Adds one settings file; a project that is not trusted can make things stricter, never wider."""
    own = settings.get("forgecmd", {})
    if not isinstance(own, dict):
        raise ConfigError("forgecmd: expected an object", path=source)
    policy.rules.rules += load_rules(own.get("rules", {}), source, trusted)
    policy.rules.rules += permission_rules(settings.get("permissions", {}), source, trusted)
    workspace = own.get("workspace", {})
    policy.deny += tuple(workspace.get("deny", ()))
    if trusted:
        policy.extra += tuple(workspace.get("extraWrite", ()))
    _thresholds(policy.thresholds, own.get("riskThresholds", {}), source, trusted)


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
