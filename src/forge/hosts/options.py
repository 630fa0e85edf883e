"""The command line of a run as one typed value, checked for combinations that make no sense."""

from __future__ import annotations

import os

import msgspec

from forge.foundation.errors import UsageError
from forge.foundation.ids import is_uuid
from forge.hosts.cli.parse import CommandLine


class RunOptions(msgspec.Struct, frozen=True):
    """What `forge [-p]` was asked to do; field names are the keys of the flag table."""

    prompt: str = ""
    print: bool = False
    output_format: str = "text"
    input_format: str = "text"
    verbose: bool = False
    include_partial_messages: bool = False
    include_hook_events: bool = False
    replay_user_messages: bool = False
    json_schema: str | None = None
    continue_: bool = False
    resume: str | bool | None = None
    fork_session: bool = False
    session_id: str | None = None
    name: str | None = None
    no_session_persistence: bool = False
    session_mirror: bool = False
    worktree: str | bool | None = None
    resume_session_at: str | None = None
    resume_drops_turn: str | None = None
    rewind_files: str | None = None
    model: str | None = None
    fallback_model: str | None = None
    betas: list[str] = []
    effort: str | None = None
    max_turns: float | None = None
    task_budget: float | None = None
    max_budget_usd: float | None = None
    max_seconds: float | None = None
    autocompact: str | None = None
    thinking: str | None = None
    max_thinking_tokens: int | None = None
    thinking_display: str | None = None
    system_prompt: str | None = None
    system_prompt_file: str | None = None
    append_system_prompt: str | None = None
    append_system_prompt_file: str | None = None
    permission_mode: str | None = None
    allowed_tools: list[str] = []
    disallowed_tools: list[str] = []
    tools: list[str] | None = None
    agents: str | None = None
    agent: str | None = None
    forward_subagent_text: bool = False
    append_subagent_system_prompt: str = ""
    add_dir: list[str] = []
    permission_prompts: str | None = None
    permission_prompt_tool: str | None = None
    dangerously_skip_permissions: bool = False
    allow_dangerously_skip_permissions: bool = False
    settings: str | None = None
    setting_sources: str | None = None
    project_config_root: str | None = None
    managed_settings: str | None = None
    mcp_config: list[str] = []
    strict_mcp_config: bool = False
    plugin_dir: list[str] = []
    plugin_dir_no_mcp: list[str] = []
    plugin_url: list[str] = []
    await_initialize: bool = False
    disable_slash_commands: bool = False
    bare: bool = False
    safe_mode: bool = False
    init: bool = False
    init_only: bool = False
    maintenance: bool = False
    debug: str | bool | None = None
    debug_file: str | None = None
    debug_to_stderr: bool = False


# The beta that gives models of the time before a large context.
_MILLION = "context-1m-2025-08-07"
EFFORTS = ("low", "medium", "high", "xhigh", "max")


def read_options(line: CommandLine) -> RunOptions:
    """Converts and checks a parsed command line; raises UsageError."""
    o = msgspec.convert({**line.values, "prompt": " ".join(line.words)}, RunOptions, strict=False)
    streams = o.input_format == "stream-json"
    if o.print and o.output_format == "stream-json" and not o.verbose:
        raise UsageError("Error: When using --print, --output-format=stream-json requires --verbose")
    if streams and o.output_format != "stream-json":
        raise UsageError("Error: --input-format=stream-json requires output-format=stream-json.")
    if o.session_id and not is_uuid(o.session_id):
        raise UsageError("Error: Invalid session ID. Must be a valid UUID.")
    if o.resume in (True, ""):
        raise UsageError(
            "Error: --resume requires a valid session ID or session title when used with --print."
            " Usage: forge -p --resume <session-id|title>"
        )
    if o.session_id and (o.resume or o.continue_) and not o.fork_session:
        raise UsageError(
            "Error: --session-id can only be used with --continue or --resume"
            " if --fork-session is also specified."
        )
    if o.rewind_files and not o.resume:
        raise UsageError("Error: --rewind-files requires --resume")
    if o.rewind_files and o.prompt:
        raise UsageError("Error: --rewind-files is a standalone operation and cannot be used with a prompt")
    if o.resume_session_at and not o.resume:
        raise UsageError("Error: --resume-session-at requires --resume")
    if o.resume_drops_turn and not o.resume_session_at:
        raise UsageError("Error: --resume-drops-turn requires --resume-session-at")
    return _enlarged(o)


def _enlarged(o: RunOptions) -> RunOptions:
    """The options with a model of large context if the beta for that is asked for."""
    name = o.model or ""
    if _MILLION not in own_betas(o) or not name.startswith("claude-sonnet-4") or "[" in name:
        return o
    return msgspec.structs.replace(o, model=f"{name}[1m]")


def own_betas(o: RunOptions) -> list[str]:
    """The betas of the command line."""
    return [name for given in o.betas for name in given.split(",") if name]


def file_text(path: str, what: str) -> str:
    """The content of a file that an option names."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        raise UsageError(f"Error: {what} file not found: {os.path.abspath(path)}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"Error: {what} file cannot be read: {path}: {error}") from None
