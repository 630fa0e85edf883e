"""One entry for every plugin command: `forge plugin …` and `/plugin …` call the same function."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from importlib import import_module

from forge.core.installing.request import MARKET_VERBS, Request, failure, read_request
from forge.core.plugins.context import Context, Outcome, PluginFailure
from forge.foundation.errors import ConfigError, UsageError
from forge.foundation.suggest import closest

Action = Callable[[Request, Context], Outcome]

# Verb: where its function is, and how a failure begins ("{}" is the plugin's name as it was given).
VERBS: dict[str, tuple[str, str]] = {
    "install": ("command:install_any", 'Failed to install plugin "{}": '),
    "uninstall": ("command:uninstall_any", 'Failed to uninstall plugin "{}": '),
    "enable": ("enable:enable", 'Failed to enable plugin "{}": '),
    "disable": ("enable:disable", 'Failed to disable plugin "{}": '),
    "update": ("update:update", 'Failed to update plugin "{}": '),
    "list": ("listing:list_plugins", ""),
    "details": ("details:details", ""),
    "configure": ("configure:configure", "Failed to save configuration: "),
    "prune": ("prune:prune", "Failed to prune: "),
    "init": ("scaffold:init", ""),
    "validate": ("validate_command:validate_command", ""),
    "reload": ("command:reload", ""),
    "marketplace add": ("marketplaces:add", "Failed to add marketplace: "),
    "marketplace list": ("marketplaces:list_markets", ""),
    "marketplace update": ("marketplaces:update", "Failed to update marketplace(s): "),
    "marketplace remove": ("marketplaces:remove", "Failed to remove marketplace: "),
}


def plugin_command(words: list[str], context: Context) -> Outcome:
    """Runs a plugin command. It may wait for the network or a program: sessions call it in a thread."""
    request = read_request(words)
    if request.verb not in VERBS:
        raise _unknown(request.verb)
    place, lead = VERBS[request.verb]
    module, _, function = place.partition(":")
    action: Action = getattr(import_module(f"forge.core.installing.{module}"), function)
    try:
        return action(request, context)
    except PluginFailure as error:
        given = request.words[0] if request.words else ""
        return failure(request, _fields(request, given), error, lead.format(given))
    except ConfigError as error:
        return failure(
            request, _fields(request, ""), PluginFailure(str(error), "error_config"), lead.format("")
        )


def plugin_line(line: str, context: Context) -> Outcome:
    """Runs a command that was typed as one line, with words quoted as in a shell."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise UsageError(f"The words cannot be told apart: {error}.", "Check the quotes.") from None
    return plugin_command(words, context)


def install_any(request: Request, context: Context) -> Outcome:
    """`install` of an address, a path or a name."""
    if not request.words:
        raise UsageError("error: missing required argument 'plugin'", INSTALL_USAGE)
    remote = import_module("forge.core.installing.remote")
    source = remote.remote_source(request.words[0])
    if source is not None:
        outcome: Outcome = remote.install_remote(source, request, context)
        return outcome
    paths = import_module("forge.core.installing.install_path")
    path = paths.path_argument(request, context)
    if path:
        outcome = paths.install_path(path, request, context)
        return outcome
    outcome = import_module("forge.core.installing.install").install(request, context)
    return outcome


INSTALL_USAGE = "Usage: plugin install NAME[@MARKETPLACE] | PATH | ADDRESS"


def uninstall_any(request: Request, context: Context) -> Outcome:
    """`uninstall` of what came from a marketplace, or from a path."""
    module = import_module("forge.core.installing.uninstall")
    given = request.word("plugin")
    outcome: Outcome | None = None
    if not module.find_installed(given, context):
        paths = import_module("forge.core.installing.install_path")
        outcome = paths.uninstall_path(given, request, context)
    outcome = outcome or module.uninstall(request, context)
    if request.on("--prune") and outcome is not None and not outcome.code:
        pruned = import_module("forge.core.installing.prune").prune(request, context)
        return Outcome(outcome.out + pruned.out, outcome.err, 0, True)
    return outcome or Outcome()


def reload(request: Request, context: Context) -> Outcome:
    """`reload`: hosts that keep plugins loaded act on `reload` of the outcome; others have nothing to do."""
    return Outcome("Plugins are read anew at every start.\n", reload=True)


def _fields(request: Request, given: str) -> dict[str, str]:
    if request.verb.startswith("marketplace"):
        return {"command": request.verb.replace(" ", "-")}
    fields = {"command": request.verb, "plugin": given}
    scope = request.scope("user" if request.verb in ("install", "uninstall") else "")
    return {**fields, "scope": scope} if scope else fields


def _unknown(verb: str) -> UsageError:
    outer, _, inner = verb.partition(" ")
    in_market = outer == "marketplace"
    word = inner if in_market else verb
    known = MARKET_VERBS if in_market else tuple(each for each in VERBS if " " not in each)
    near = closest(word, known)
    guess = f"\n(Did you mean {near}?)" if near else ""
    return UsageError(
        f"error: unknown command '{word}'{guess}" if word else f"Use one of: {', '.join(known)}"
    )
