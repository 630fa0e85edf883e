"""THE table of hook events: payload, what a matcher is compared with, and what an answer may do.

The engine, the settings check, the documentation, `forge hooks` and the tests are derived from it.
"""

from __future__ import annotations

from enum import Flag, auto

import msgspec


class Can(Flag):
    """What the answer of a hook may do; everything else in it is ignored."""

    NOTHING = 0
    BLOCK = auto()  # exit code 2 and `decision: block`
    DECIDE = auto()  # allow, ask or deny a call or a switch
    REWRITE = auto()  # another tool input
    CONTEXT = auto()  # text for the model
    PLAIN = auto()  # plain output is such a text
    STOP = auto()  # `continue: false`
    OUTPUT = auto()  # another tool result, another text on the screen
    WATCH = auto()  # further files to watch
    START = auto()  # first prompt and title of a session
    ANSWER = auto()  # the answer to a question of an MCP server
    PLACE = auto()  # the directory of a worktree
    RETRY = auto()  # the model may try again; a request for permission is made once more
    NOTIFY = auto()  # `systemMessage` for the user


ALL = ("command", "http", "mcp_tool", "prompt", "agent")
OUTSIDE = ("command", "http", "mcp_tool")
LOCAL = ("command", "mcp_tool")


class HookSpec(msgspec.Struct, frozen=True):
    """One event. Names of `fields` that end in `?` may be absent; `match` names the field of matchers.

    `mode` and `effort` say what the payload tells of the session; `env_file`: the hook may export variables.
    `reported`: its runs are always in the stream, `False`: only on request, `None`: never.
    """

    name: str
    about: str
    fields: tuple[str, ...] = ()
    match: str = ""
    can: Can = Can.NOTHING
    timeout: float = 600
    handlers: tuple[str, ...] = OUTSIDE
    mode: bool = False
    effort: bool = False
    env_file: bool = False
    awaited: bool = True
    reported: bool | None = False


def _fields(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_TURN = Can.BLOCK | Can.CONTEXT | Can.STOP | Can.NOTIFY
_SWITCH = _fields(
    "from_model to_model requested_model source context_tokens prompt_cache_warm cache_ttl"
    " estimated_cache_write_usd pricing"
)
_TASK = _fields("task_id task_subject task_description? teammate_name? team_name?")

_ROWS = (
    HookSpec(
        "SessionStart",
        "A session starts, resumes, forks or goes on after compaction.",
        _fields(
            "source model? session_title? seconds_since_last_response? context_tokens?"
            " prompt_cache_likely_expired? estimated_cache_write_usd?"
        ),
        "source",
        Can.CONTEXT | Can.PLAIN | Can.START | Can.WATCH,
        handlers=LOCAL,
        env_file=True,
        reported=True,
    ),
    HookSpec(
        "Setup",
        "`--init`, `--init-only` or `--maintenance` was given.",
        _fields("trigger"),
        "trigger",
        Can.NOTIFY,
        handlers=LOCAL,
        env_file=True,
        reported=True,
    ),
    HookSpec(
        "InstructionsLoaded",
        "An instruction file (CLAUDE.md, AGENTS.md, a rule) was loaded.",
        _fields("file_path memory_type load_reason globs? trigger_file_path? parent_file_path?"),
        "load_reason",
        effort=True,
        reported=None,
    ),
    HookSpec(
        "UserPromptSubmit",
        "The user has sent a prompt; the model has not seen it yet.",
        _fields("prompt source?"),
        "",
        _TURN | Can.PLAIN | Can.START,
        timeout=30,
        handlers=ALL,
        mode=True,
    ),
    HookSpec(
        "UserPromptExpansion",
        "A typed `/command` becomes the text the model will see.",
        _fields("expansion_type command_name command_args command_source? prompt"),
        "command_name",
        _TURN | Can.PLAIN,
        handlers=ALL,
        mode=True,
    ),
    HookSpec(
        "MessageDisplay",
        "A text of the model is about to be shown.",
        _fields("turn_id message_id index final delta"),
        "",
        Can.OUTPUT,
        timeout=10,
    ),
    HookSpec(
        "PreToolUse",
        "A valid tool call is about to be judged and run.",
        _fields("tool_name tool_input tool_use_id mcp_server?"),
        "tool_name",
        _TURN | Can.DECIDE | Can.REWRITE,
        handlers=ALL,
        mode=True,
        effort=True,
    ),
    HookSpec(
        "PermissionRequest",
        "A tool call needs somebody's permission.",
        _fields("tool_name tool_input permission_suggestions? mcp_server?"),
        "tool_name",
        Can.DECIDE | Can.REWRITE | Can.RETRY,
        handlers=ALL,
        mode=True,
        effort=True,
    ),
    HookSpec(
        "PermissionDenied",
        "A tool call was refused without anybody having been asked.",
        _fields("tool_name tool_input tool_use_id reason mcp_server?"),
        "tool_name",
        Can.RETRY,
        handlers=ALL,
        mode=True,
        effort=True,
    ),
    HookSpec(
        "PostToolUse",
        "A tool call has succeeded.",
        _fields("tool_name tool_input tool_response tool_use_id duration_ms? mcp_server?"),
        "tool_name",
        _TURN | Can.OUTPUT,
        handlers=ALL,
        mode=True,
        effort=True,
    ),
    HookSpec(
        "PostToolUseFailure",
        "A tool call has failed.",
        _fields("tool_name tool_input tool_use_id error is_interrupt? duration_ms? mcp_server?"),
        "tool_name",
        Can.BLOCK | Can.CONTEXT | Can.NOTIFY,
        handlers=ALL,
        mode=True,
        effort=True,
    ),
    HookSpec(
        "PostToolBatch",
        "All calls of one reply have their results.",
        _fields("tool_calls"),
        "",
        _TURN,
        handlers=ALL,
        mode=True,
        effort=True,
    ),
    HookSpec(
        "Notification",
        "Forge wants the user's attention.",
        _fields("message title? notification_type"),
        "notification_type",
        Can.NOTIFY,
    ),
    HookSpec(
        "SubagentStart",
        "A sub-agent starts.",
        (),
        "agent_type",
        Can.CONTEXT | Can.NOTIFY,
    ),
    HookSpec(
        "SubagentStop",
        "A sub-agent is about to finish.",
        _fields(
            "stop_hook_active agent_transcript_path last_assistant_message? background_tasks session_crons"
        ),
        "agent_type",
        _TURN,
        handlers=ALL,
        mode=True,
        effort=True,
    ),
    HookSpec(
        "Stop",
        "The agent is about to end its turn.",
        _fields("stop_hook_active last_assistant_message? background_tasks session_crons"),
        "",
        _TURN,
        handlers=ALL,
        mode=True,
        effort=True,
    ),
    HookSpec(
        "StopFailure",
        "A turn has ended with an API error.",
        _fields("error error_details? last_assistant_message?"),
        "error",
        effort=True,
        awaited=False,
        reported=None,
    ),
    HookSpec("TaskCreated", "A task is put on the list.", _TASK, "", Can.BLOCK | Can.NOTIFY, handlers=ALL),
    HookSpec(
        "TaskCompleted", "A task is to be marked as done.", _TASK, "", Can.BLOCK | Can.NOTIFY, handlers=ALL
    ),
    HookSpec(
        "TeammateIdle",
        "A member of an agent team has nothing to do.",
        _fields("teammate_name team_name"),
        "",
        Can.BLOCK | Can.STOP | Can.NOTIFY,
        handlers=ALL,
        mode=True,
    ),
    HookSpec(
        "PreCompact",
        "The conversation is about to be summarised.",
        _fields("trigger custom_instructions"),
        "trigger",
        Can.BLOCK | Can.PLAIN | Can.NOTIFY,
    ),
    HookSpec(
        "PostCompact",
        "The conversation was summarised.",
        _fields("trigger compact_summary"),
        "trigger",
        Can.NOTIFY,
    ),
    HookSpec(
        "PreModelSwitch",
        "Another model is asked for.",
        _SWITCH,
        "to_model",
        Can.BLOCK | Can.DECIDE | Can.NOTIFY,
    ),
    HookSpec(
        "PostModelSwitch",
        "The model has changed.",
        _SWITCH,
        "to_model",
        Can.CONTEXT | Can.NOTIFY,
    ),
    HookSpec(
        "Elicitation",
        "An MCP server asks the user something.",
        _fields("mcp_server_name message mode? url? elicitation_id? requested_schema?"),
        "mcp_server_name",
        Can.BLOCK | Can.ANSWER | Can.NOTIFY,
    ),
    HookSpec(
        "ElicitationResult",
        "The user has answered an MCP server.",
        _fields("mcp_server_name mode? elicitation_id? action content?"),
        "mcp_server_name",
        Can.BLOCK | Can.ANSWER | Can.NOTIFY,
    ),
    HookSpec(
        "ConfigChange",
        "A settings or skill file has changed on disk.",
        _fields("source file_path?"),
        "source",
        Can.BLOCK | Can.NOTIFY,
    ),
    HookSpec(
        "CwdChanged",
        "The working directory is another one.",
        _fields("old_cwd new_cwd"),
        "",
        Can.WATCH | Can.NOTIFY,
        env_file=True,
    ),
    HookSpec(
        "FileChanged",
        "A watched file has changed.",
        _fields("file_path event"),
        "file_path",
        Can.WATCH | Can.NOTIFY,
        env_file=True,
    ),
    HookSpec(
        "DirectoryAdded",
        "A directory was added to the session.",
        _fields("directory source"),
        "source",
        Can.NOTIFY,
        awaited=False,
    ),
    HookSpec(
        "WorktreeCreate",
        "A worktree is needed; the hook may make it instead of git.",
        _fields("name"),
        "",
        Can.BLOCK | Can.PLACE | Can.NOTIFY,
    ),
    HookSpec("WorktreeRemove", "A worktree is removed.", _fields("worktree_path"), "", Can.NOTIFY),
    HookSpec(
        "SessionEnd",
        "The session is over.",
        _fields("reason"),
        "reason",
        timeout=1.5,
        reported=None,
    ),
)

HOOKS = {row.name: row for row in _ROWS}
EVENTS = tuple(HOOKS)
