"""What `forgecmd --help` and `forgecmd NAME --help` print."""

from __future__ import annotations

USAGE = """forgecmd: a guarded shell for people and agents

usage: forgecmd COMMAND [OPTIONS]

before a command runs
  classify COMMAND     category, risk and decision as JSON (--jsonl: one per line of standard input)
  check COMMAND        exit 0 if it may run, 1 if a person must look, 2 if it is refused
  explain COMMAND      every finding and every step of the decision

running
  run -- COMMAND       judge it, ask if necessary, run it in a sandbox, note it in the history
  restore [ID]         bring back what a command was allowed to destroy

looking back
  history              the newest commands
  search TEXT          commands with these words, or with this text in their output
  show ID              one command and its output; --grep REGEX or --offset N for parts of it
  stats                how many, how long, how many failed or were refused

for agents
  hook                 a PreToolUse event on standard input, a permission decision on standard output
  mcp                  an MCP server on standard input and output

  doctor               what protects this machine

`forgecmd NAME --help` says more. Rules: see `forgecmd` and `permissions` in settings.json."""

_JUDGING = """
options: --cwd DIR        judge as if in this directory
         --shell SHELL    bash (default), powershell or cmd"""

PAGES = {
    "classify": """usage: forgecmd classify [OPTIONS] COMMAND
       forgecmd classify --jsonl < ROWS

Prints category, risk (0 to 10) and decision as JSON; nothing runs.
With --jsonl each line of standard input is a JSON object with "cmd" and optionally "cwd" and "shell";
each gets one line, judged without your rules.

example: forgecmd classify 'git push --force'"""
    + _JUDGING,
    "check": """usage: forgecmd check [OPTIONS] COMMAND

Says in words what would happen; the exit code is 0 (may run), 1 (a person must look) or 2 (refused).

example: forgecmd check 'rm -rf node_modules'"""
    + _JUDGING,
    "explain": """usage: forgecmd explain [OPTIONS] COMMAND

Prints every finding with its place in the text, every simple command with its effects, and the way from
the rules to the decision, as JSON.

example: forgecmd explain 'make && sudo make install'"""
    + _JUDGING,
    "run": """usage: forgecmd run [OPTIONS] -- COMMAND

Judges the command, asks where your rules do not answer, runs it in a sandbox and notes it in the history.
Where nobody can be asked, what would need a question is refused.

options: --pty               in a terminal: colours, progress, programs that want one
         --timeout SECONDS   end it after this time (default 120, 0: never)
         --profile NAME      read, workspace, build or full instead of what the category says; a wider one
                             needs your consent
         --yes               answer questions with yes; what is dangerous or forbidden stays refused
         --json              a JSON object with output, exit code, history id and decision
         --cwd DIR           where to run it

exit code: that of the command; 125 if the sandbox or the command could not be started, 126 if it was
refused, 124 if its time was over.

example: forgecmd run -- npm test""",
    "history": """usage: forgecmd history [--limit N] [--session ID] [--json]

The newest commands first.""",
    "search": """usage: forgecmd search [--limit N] [--json] TEXT

Commands that contain all the words, else those that have the text in command or output.

example: forgecmd search 'docker compose'""",
    "show": """usage: forgecmd show [--offset N] [--limit N] [--grep REGEX] [--errors] [--json] ID

One command with its output: from line N on, or only the lines that match. --errors: the error output, where
it was kept apart.

example: forgecmd show 12 --grep 'error|failed'""",
    "stats": "usage: forgecmd stats [--session ID] [--json]\n\nCounts of a session, or of everything.",
    "doctor": """usage: forgecmd doctor [--json]

Tries every layer of protection once and says what works here and what does not. Exit code 1 if commands
cannot be confined.""",
    "restore": """usage: forgecmd restore [--list] [--json]
       forgecmd restore [--overwrite] ID

Before a dangerous command that you allowed, forgecmd keeps what it is about to change. --list (or no ID)
shows what is kept; an ID brings it back. --overwrite replaces what is there now.""",
    "hook": """usage: forgecmd hook [--daemon]

Reads a PreToolUse event (JSON) from standard input and prints a permission decision: allow, ask or deny with
a reason. Tools that run no commands get no answer. --daemon: stay in memory for the next events, until
nobody has asked for ten minutes.

In settings.json:
  {"hooks": {"PreToolUse": [{"matcher": "Bash|Monitor|PowerShell",
    "hooks": [{"type": "command", "command": "forgecmd hook --daemon", "timeout": 10}]}]}}""",
    "mcp": """usage: forgecmd mcp [--cwd DIR]

Serves the Model Context Protocol on standard input and output: run, sessions in a terminal, stored output,
history.

In .mcp.json: {"mcpServers": {"forgecmd": {"command": "forgecmd", "args": ["mcp"]}}}""",
}
