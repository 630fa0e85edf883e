"""The one table of command-line flags: parser, help, documentation and completion are derived from it.

Light on purpose: `forge --help` may import nothing but this module and the parser.
"""

from __future__ import annotations

# kinds: switch (no value), value, optional (value may be missing), list (takes all that follows), repeat
SWITCH, VALUE, OPTIONAL, LIST, REPEAT = "switch", "value", "optional", "list", "repeat"


class Flag:
    """One flag: its spellings, what it takes, what it means."""

    __slots__ = ("check", "choices", "group", "help", "hidden", "key", "kind", "meta", "names", "note")

    def __init__(self, names: str, kind: str, meta: str, help: str, **more: object) -> None:
        self.names = names.split()
        self.kind = kind
        self.meta = meta
        self.help = help
        self.group = ""
        self.choices: tuple[str, ...] = tuple(str(more.get("choices") or "").split())
        self.hidden = bool(more.get("hidden"))
        self.check = str(more.get("check") or "")
        self.note = str(more.get("note") or "")
        long = next(n for n in self.names if n.startswith("--"))
        self.key = str(more.get("key") or long.strip("-").replace("-", "_"))

    @property
    def usage(self) -> str:
        """The flag as help and error texts spell it."""
        names = ", ".join(self.names)
        if self.kind == SWITCH:
            return names
        dots = "..." if self.kind == LIST else ""
        return f"{names} [{self.meta}]" if self.kind == OPTIONAL else f"{names} <{self.meta}{dots}>"


MODES = "acceptEdits auto bypassPermissions manual dontAsk plan"

_GROUPS: tuple[tuple[str, tuple[Flag, ...]], ...] = (
    (
        "Running",
        (
            Flag("-p --print", SWITCH, "", "answer one prompt and exit (no screen)"),
            Flag(
                "--output-format",
                VALUE,
                "format",
                "with -p: text, json or stream-json",
                choices="text json stream-json",
            ),
            Flag(
                "--input-format", VALUE, "format", "with -p: text or stream-json", choices="text stream-json"
            ),
            Flag("--verbose", SWITCH, "", "with -p: print every event, not only the result"),
            Flag(
                "--include-partial-messages", SWITCH, "", "stream-json: add the model's stream as it arrives"
            ),
            Flag("--include-hook-events", SWITCH, "", "stream-json: add an event for every hook run"),
            Flag("--replay-user-messages", SWITCH, "", "stream-json input: echo each user message back"),
            Flag("--json-schema", VALUE, "schema", "the result must be JSON that fits this schema"),
        ),
    ),
    (
        "Sessions",
        (
            Flag(
                "-c --continue",
                SWITCH,
                "",
                "go on with the newest session of this directory",
                key="continue_",
            ),
            Flag("-r --resume", OPTIONAL, "value", "go on with a session, by id or title"),
            Flag("--fork-session", SWITCH, "", "resume into a new session instead of the old one"),
            Flag("--session-id", VALUE, "uuid", "use this id for the session"),
            Flag("-n --name", VALUE, "name", "give the session a title to resume it by"),
            Flag("-w --worktree", OPTIONAL, "name", "work in a git worktree: a new one, or as it was left"),
            Flag("--no-session-persistence", SWITCH, "", "keep nothing of this session on disk"),
            Flag(
                "--resume-session-at",
                VALUE,
                "uuid",
                "with --resume: forget everything after this entry",
                hidden=True,
            ),
            Flag("--resume-drops-turn", VALUE, "uuid", "only if that is this turn", hidden=True),
            Flag(
                "--rewind-files",
                VALUE,
                "uuid",
                "with --resume: make files what they were at this message, and exit",
                hidden=True,
            ),
        ),
    ),
    (
        "Model and limits",
        (
            Flag(
                "--model", VALUE, "model", "alias (opus, sonnet, haiku), id, provider/model or scripted/FILE"
            ),
            Flag(
                "--fallback-model",
                VALUE,
                "models",
                "models to try when the first is overloaded, comma separated",
            ),
            Flag("--effort", VALUE, "level", "low, medium, high, xhigh or max"),
            Flag("--max-turns", VALUE, "turns", "stop after this many model replies", check="number"),
            Flag("--max-budget-usd", VALUE, "amount", "stop when this much money is spent", check="positive"),
            Flag("--max-seconds", VALUE, "seconds", "stop after this time", check="positive"),
            Flag("--thinking", VALUE, "mode", "enabled, adaptive or disabled", hidden=True),
            Flag("--max-thinking-tokens", VALUE, "tokens", "thinking budget", hidden=True, check="number"),
            Flag("--thinking-display", VALUE, "display", "how thinking is shown", hidden=True),
            Flag("--betas", LIST, "betas", "extra beta headers for the model API", hidden=True),
            Flag("--task-budget", VALUE, "tokens", "token budget of a task", hidden=True, check="number"),
            Flag("--autocompact", VALUE, "auto|tokens", "context size to use", hidden=True, check="window"),
        ),
    ),
    (
        "Prompt text",
        (
            Flag("--system-prompt", VALUE, "prompt", "use this system prompt instead of Forge's"),
            Flag("--system-prompt-file", VALUE, "file", "the same, from a file", hidden=True),
            Flag("--append-system-prompt", VALUE, "prompt", "add this to the system prompt"),
            Flag("--append-system-prompt-file", VALUE, "file", "the same, from a file", hidden=True),
            Flag(
                "--exclude-dynamic-system-prompt-sections",
                SWITCH,
                "",
                "leave out per-machine sections",
                hidden=True,
            ),
            Flag("--system-prompt-snapshot", VALUE, "mode", "reuse the recorded system prompt", hidden=True),
        ),
    ),
    (
        "Permissions and tools",
        (
            Flag(
                "--permission-mode",
                VALUE,
                "mode",
                f"start in this mode: {', '.join(MODES.split())}",
                choices=MODES,
            ),
            Flag(
                "--allowedTools --allowed-tools",
                LIST,
                "tools",
                'tools and rules to allow, e.g. "Bash(git *) Edit"',
                key="allowed_tools",
            ),
            Flag(
                "--disallowedTools --disallowed-tools",
                LIST,
                "tools",
                "tools and rules to deny",
                key="disallowed_tools",
            ),
            Flag(
                "--tools",
                LIST,
                "tools",
                'the built-in tools to offer: a list, "" for none, "default" for all',
            ),
            Flag("--add-dir", LIST, "directories", "more directories the tools may work in"),
            Flag("--permission-prompts", VALUE, "who", "none: deny instead of asking", choices="host none"),
            Flag(
                "--permission-prompt-tool",
                VALUE,
                "tool",
                "who answers permission questions (stdio: the host)",
                hidden=True,
            ),
            Flag("--dangerously-skip-permissions", SWITCH, "", "allow everything no rule forbids"),
            Flag("--allow-dangerously-skip-permissions", SWITCH, "", "let a host switch to that mode later"),
            Flag(
                "--restricted",
                SWITCH,
                "",
                "no tools that run code, no personal or project settings",
                hidden=True,
            ),
        ),
    ),
    (
        "Configuration",
        (
            Flag("--settings", VALUE, "file-or-json", "extra settings, above user and project settings"),
            Flag("--setting-sources", VALUE, "sources", "which settings to load: user,project,local"),
            Flag("--project-config-root", VALUE, "path", "take project files from there", hidden=True),
            Flag("--managed-settings", VALUE, "json", "policy settings from an embedding host", hidden=True),
            Flag("--mcp-config", LIST, "configs", "MCP servers from files or JSON"),
            Flag("--strict-mcp-config", SWITCH, "", "only MCP servers from --mcp-config"),
            Flag("--agents", VALUE, "json-or-file", "define sub-agents"),
            Flag("--agent", VALUE, "agent", "run as this agent"),
            Flag("--plugin-dir", REPEAT, "path", "load a plugin from a directory for this session"),
            Flag("--plugin-url", REPEAT, "url", "load a plugin from a .zip behind this address"),
            Flag("--plugin-dir-no-mcp", REPEAT, "path", "the same without its MCP servers", hidden=True),
            Flag("--await-initialize", SWITCH, "", "plugins come with the first request", hidden=True),
            Flag("--disable-slash-commands", SWITCH, "", "no skills and commands"),
            Flag("--bare", SWITCH, "", "bare tools and prompt: no hooks, plugins, memory or MCP"),
            Flag("--safe-mode", SWITCH, "", "no hooks of settings files"),
            Flag("--init", SWITCH, "", "run Setup hooks (trigger init) before the session"),
            Flag("--init-only", SWITCH, "", "run Setup hooks (trigger init) and end"),
            Flag("--maintenance", SWITCH, "", "run Setup hooks (trigger maintenance) before the session"),
            Flag("-d --debug", OPTIONAL, "filter", "write a debug log to standard error"),
            Flag("--debug-file", VALUE, "path", "write the debug log to this file"),
            Flag("--debug-to-stderr", SWITCH, "", "the same as --debug", hidden=True),
            Flag("-v --version", SWITCH, "", "print the version"),
            Flag("-h --help", SWITCH, "", "print this help"),
        ),
    ),
)

FLAGS: tuple[Flag, ...] = tuple(flag for _, flags in _GROUPS for flag in flags)

# Flags of the reference that make no sense here: accepted so that scripts and SDKs run, and without effect.
IGNORED: tuple[Flag, ...] = (
    Flag("--forward-subagent-text", SWITCH, "", ""),
    Flag("--prompt-suggestions", OPTIONAL, "on", ""),
    Flag("--session-mirror", SWITCH, "", ""),
    Flag("--append-subagent-system-prompt", VALUE, "prompt", ""),
    Flag("--safe-mode", SWITCH, "", ""),
    Flag("--brief", SWITCH, "", ""),
    Flag("--chrome", SWITCH, "", ""),
    Flag("--no-chrome", SWITCH, "", ""),
    Flag("--ide", SWITCH, "", ""),
    Flag("--ax-screen-reader", SWITCH, "", ""),
)

COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("forge.hosts.cli.demo", "watch a scripted session work on a scratch repository"),
    "config": ("forge.hosts.cli.config", "show and change settings, with the origin of every value"),
    "models": ("forge.hosts.cli.models", "list configured models, prices and whether they can be reached"),
    "doctor": ("forge.hosts.cli.doctor", "say what was loaded from where, and what was ignored and why"),
    "memory": ("forge.hosts.cli.memory", "list the instruction files in use, and why others are not"),
    "sessions": ("forge.hosts.cli.sessions", "list, search, show, export, rewind and delete sessions"),
    "usage": ("forge.hosts.cli.usage", "what sessions have cost, per day, model and session"),
    "trust": ("forge.hosts.cli.trust", "trust this directory's project settings (or stop trusting them)"),
    "hooks": ("forge.hosts.cli.hooks", "list hooks and say why some do not count; try one event"),
    "plugin": ("forge.hosts.cli.plugin", "install, switch, update and make plugins; marketplaces"),
    "plugins": ("forge.hosts.cli.plugin", ""),
    "skill": ("forge.hosts.cli.skill", "list skills and commands with their origins; make new ones"),
    "agent": ("forge.hosts.cli.agent", "list kinds of sub-agents with their origins; make new ones"),
    "completion": ("forge.hosts.cli.completion", "print a completion script for bash, zsh or fish"),
    "debug": ("forge.hosts.cli.debug", "what Forge makes of a recorded run of another program"),
}


def help_text() -> str:
    """The whole help screen."""
    lines = [
        "Usage: forge [options] [command] [prompt]",
        "",
        "Forge is a coding agent for the terminal that works with any model.",
        'Example: forge -p "why does the build fail?" --allowedTools "Bash(make *)"',
        "",
        "Commands:",
    ]
    lines += [f"  {name:<10} {about}" for name, (_, about) in COMMANDS.items() if about]
    for title, flags in _GROUPS:
        lines += ["", f"{title}:"]
        for flag in flags:
            if not flag.hidden:
                lines += _entry(flag.usage, flag.help)
    lines += ["", "`forge COMMAND --help` explains a command."]
    return "\n".join(lines)


def _entry(usage: str, about: str) -> list[str]:
    if len(usage) <= 36:
        return [f"  {usage:<36}  {about}"]
    return [f"  {usage}", f"{'':<40}{about}"]
