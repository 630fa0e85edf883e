"""A program that uses the official Agent SDK for Python: plays every scenario at once, prints what it saw.

Runs with the SDK on its path: `python_program.py PLAN.json`; the plan has the CLI, and per scenario the
directory, the home and the model's address.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from importlib import import_module
from pathlib import Path
from typing import Any

sdk: Any = import_module("claude_agent_sdk")
Facts = dict[str, Any]
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}, "n": {"type": "integer"}}}


class Place:
    """Where a scenario plays."""

    def __init__(self, cli: str, row: dict[str, str]) -> None:
        self.cli, self.cwd, self.other = cli, Path(row["cwd"]), Path(row["other"])
        self.env = {"HOME": row["home"], "ANTHROPIC_BASE_URL": row["url"], "ANTHROPIC_API_KEY": "dummy"}

    def options(self, **more: Any) -> Any:
        env = {**self.env, **more.pop("env", {})}
        return sdk.ClaudeAgentOptions(
            cli_path=self.cli, cwd=self.cwd, env=env, model="claude-sonnet-4-5", **more
        )


async def ask(prompt: Any, options: Any) -> list[Any]:
    return [message async for message in sdk.query(prompt=prompt, options=options)]


def kinds(messages: list[Any]) -> list[str]:
    return [m.subtype if isinstance(m, sdk.SystemMessage) else type(m).__name__ for m in messages]


def ended(messages: list[Any]) -> Any:
    return [m for m in messages if isinstance(m, sdk.ResultMessage)][-1]


def begun(messages: list[Any]) -> dict[str, Any]:
    found: dict[str, Any] = next(m.data for m in messages if getattr(m, "subtype", "") == "init")
    return found


def tool_results(messages: list[Any]) -> list[Any]:
    users = [m for m in messages if isinstance(m, sdk.UserMessage) and isinstance(m.content, list)]
    blocks = [b for m in users for b in m.content if isinstance(b, sdk.ToolResultBlock)]
    return [(b.is_error, b.content) for b in blocks]


def files(place: Place) -> list[str]:
    return sorted(p.name for p in place.cwd.iterdir() if not p.name.startswith("."))


async def said(*messages: Any) -> AsyncIterator[dict[str, Any]]:
    for content in messages:
        yield {"type": "user", "message": {"role": "user", "content": content}, "parent_tool_use_id": None}


async def failing(prompt: Any, options: Any) -> Facts:
    """The messages of a query that ends with an exception, and the exception."""
    seen: list[Any] = []
    try:
        async for message in sdk.query(prompt=prompt, options=options):
            seen.append(message)
    except sdk.ClaudeSDKError as error:
        return {"seen": seen, "error": type(error).__name__, "words": str(error)}
    except Exception as error:  # noqa: BLE001 - which exception comes is what the scenario reports
        return {"seen": seen, "error": type(error).__name__, "words": str(error)}
    return {"seen": seen, "error": None, "words": ""}


async def query(p: Place) -> Facts:
    messages = await ask("hi", p.options())
    first = begun(messages)
    return {
        "kinds": kinds(messages),
        "result": ended(messages).result,
        "text": [b.text for m in messages if isinstance(m, sdk.AssistantMessage) for b in m.content],
        "one session": len({ended(messages).session_id, first["session_id"]}) == 1,
        "cwd": first["cwd"] == str(p.cwd),
    }


async def stream(p: Place) -> Facts:
    messages = await ask(said("m1", [{"type": "text", "text": "m2"}]), p.options())
    return {"results": [m.result for m in messages if isinstance(m, sdk.ResultMessage)]}


async def turns(p: Place) -> Facts:
    seen: list[Any] = []
    async with sdk.ClaudeSDKClient(p.options()) as client:
        info = await client.get_server_info()
        for prompt, step in (("q1", None), ("q2", "mode"), ("q3", "model")):
            if step == "mode":
                await client.set_permission_mode("acceptEdits")
            elif step == "model":
                await client.set_model("claude-haiku-4-5")
            await client.query(prompt)
            seen += [m async for m in client.receive_response()]
    inits = [m.data for m in seen if getattr(m, "subtype", "") == "init"]
    return {
        "results": [m.result for m in seen if isinstance(m, sdk.ResultMessage)],
        "modes": [i["permissionMode"] for i in inits],
        "models": [i["model"] for i in inits],
        "sessions": len({i["session_id"] for i in inits}),
        "info": sorted(set(info) & {"commands", "models", "agents", "account", "output_style"}),
    }


async def permission(p: Place) -> Facts:
    asked: list[Any] = []

    async def may(tool: str, given: dict[str, Any], context: Any) -> Any:
        asked.append((tool, given["command"], [s.type for s in context.suggestions]))
        name = given["command"].split()[-1]
        if name == "a.txt":
            return sdk.PermissionResultAllow(updated_input={"command": "touch changed.txt"})
        if name == "b.txt":
            return sdk.PermissionResultDeny(message="not this one")
        rule = {"tool_name": "Bash", "rule_content": "touch *"}
        rules = [sdk.types.PermissionRuleValue(**rule)]
        update = sdk.PermissionUpdate(type="addRules", rules=rules, behavior="allow", destination="session")
        return sdk.PermissionResultAllow(updated_permissions=[update])

    env = {"CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS": "1"}
    messages = await ask(said("go"), p.options(can_use_tool=may, env=env))
    states = [m.data["state"] for m in messages if getattr(m, "subtype", "") == "session_state_changed"]
    return {
        "asked": asked,
        "results": tool_results(messages),
        "files": files(p),
        "denials": [d["tool_input"] for d in ended(messages).permission_denials],
        "states": states,
    }


async def refusal(p: Place) -> Facts:
    async def may(tool: str, given: dict[str, Any], context: Any) -> Any:
        return sdk.PermissionResultDeny(message="stop it", interrupt=True)

    end = await failing(said("go"), p.options(can_use_tool=may))
    return {"subtype": ended(end["seen"]).subtype, "files": files(p), "error": end["error"]}


async def raising(p: Place) -> Facts:
    async def may(tool: str, given: dict[str, Any], context: Any) -> Any:
        raise RuntimeError("boom")

    return {"results": tool_results(await ask(said("go"), p.options(can_use_tool=may)))}


async def stop_tool(p: Place) -> Facts:
    async with sdk.ClaudeSDKClient(p.options(allowed_tools=["Bash"])) as client:
        await client.query("go")
        while not (p.cwd / "started").exists():
            await asyncio.sleep(0.02)
        await client.interrupt()
        first = [m async for m in client.receive_response()]
        await client.query("again")
        second = [m async for m in client.receive_response()]
    return {
        "subtype": ended(first).subtype,
        "errors": [error for error, _ in tool_results(first)],
        "next": ended(second).result,
    }


async def stop_stream(p: Place) -> Facts:
    async with sdk.ClaudeSDKClient(p.options(include_partial_messages=True)) as client:
        await client.query("go")
        seen: list[Any] = []
        async for message in client.receive_response():
            seen.append(message)
            if isinstance(message, sdk.StreamEvent) and message.event["type"] == "content_block_delta":
                await client.interrupt()
        await client.query("again")
        second = [m async for m in client.receive_response()]
    return {"subtype": ended(seen).subtype, "next": ended(second).result}


async def partial(p: Place) -> Facts:
    messages = await ask("hi", p.options(include_partial_messages=True))
    events = [m.event for m in messages if isinstance(m, sdk.StreamEvent)]
    deltas = [e["delta"].get("text", "") for e in events if e["type"] == "content_block_delta"]
    return {"text": "".join(deltas), "several": len(deltas) > 1, "result": ended(messages).result}


async def structured(p: Place) -> Facts:
    wanted = {"type": "json_schema", "schema": SCHEMA}
    return {"value": ended(await ask("go", p.options(output_format=wanted))).structured_output}


async def past(p: Place) -> Facts:
    first = ended(await ask("q1", p.options())).session_id
    second = ended(await ask("q2", p.options(resume=first)))
    third = ended(await ask("q3", p.options(resume=first, fork_session=True)))
    fourth = ended(await ask("q4", p.options(continue_conversation=True, fork_session=True)))
    return {
        "results": [second.result, third.result],
        "same": second.session_id == first,
        "forked": third.session_id != first,
        "continued": fourth.session_id not in (first, third.session_id),
    }


async def own_id(p: Place) -> Facts:
    wanted = "aaaaaaaa-0000-4000-8000-00000000000a"
    return {"kept": ended(await ask("q", p.options(session_id=wanted))).session_id == wanted}


async def agents(p: Place) -> Facts:
    tester = sdk.AgentDefinition(
        description="Runs tests", prompt="Run the tests.", tools=["Read"], model="haiku"
    )
    messages = await ask("go", p.options(agents={"tester": tester}))
    inner = [m for m in messages if getattr(m, "parent_tool_use_id", None)]
    return {
        "result": ended(messages).result,
        "known": "tester" in begun(messages)["agents"],
        "inner": bool(inner),
        "told": [m.subtype for m in messages if getattr(m, "subtype", "") == "task_started"],
    }


async def no_sources(p: Place) -> Facts:
    options = p.options(setting_sources=[], allowed_tools=["Bash"])
    return {"errors": [error for error, _ in tool_results(await ask("go", options))]}


async def sources(p: Place) -> Facts:
    options = p.options(setting_sources=["project"], allowed_tools=["Bash"])
    return {"errors": [error for error, _ in tool_results(await ask("go", options))]}


async def prompt_text(p: Place) -> Facts:
    return {"result": ended(await ask("go", p.options(system_prompt="You are a pirate."))).result}


async def prompt_preset(p: Place) -> Facts:
    preset = {"type": "preset", "preset": "claude_code", "append": "Be brief as a pirate."}
    return {"result": ended(await ask("go", p.options(system_prompt=preset))).result}


async def prompt_file(p: Place) -> Facts:
    file = p.other / "prompt.md"
    file.write_text("You are a filed pirate.")
    wanted = {"type": "file", "path": str(file)}
    return {"result": ended(await ask("go", p.options(system_prompt=wanted))).result}


async def max_turns(p: Place) -> Facts:
    end = await failing("go", p.options(max_turns=1, allowed_tools=["Bash"]))
    return {"subtype": ended(end["seen"]).subtype, "error": end["error"], "words": end["words"]}


async def budget(p: Place) -> Facts:
    end = await failing("go", p.options(max_budget_usd=0.01))
    return {"subtype": ended(end["seen"]).subtype, "error": end["error"], "words": end["words"]}


async def tools(p: Place) -> Facts:
    options = p.options(allowed_tools=["Bash(echo *)"], disallowed_tools=["Write"])
    messages = await ask("go", options)
    offered = begun(messages)["tools"]
    return {
        "results": tool_results(messages),
        "offered": [n in offered for n in ("Bash", "Edit", "Write")],
    }


async def places(p: Place) -> Facts:
    options = p.options(add_dirs=[p.other], allowed_tools=["Bash"], env={"MY_VARIABLE": "from the host"})
    read, echoed = tool_results(await ask("go", options))
    return {
        "read": "remember" in str(read[1]),
        "echoed": echoed[1].splitlines() == ["from the host", str(p.cwd)],
    }


async def api_error(p: Place) -> Facts:
    end = await failing("go", p.options())
    last = ended(end["seen"])
    return {
        "subtype": last.subtype,
        "is_error": last.is_error,
        "result": last.result,
        "error": end["error"],
        "words": end["words"],
    }


async def no_session(p: Place) -> Facts:
    end = await failing("go", p.options(resume="aaaaaaaa-0000-4000-8000-00000000000b"))
    return {"error": end["error"], "told": "No conversation found with session ID" in end["words"]}


async def large(p: Place) -> Facts:
    (p.cwd / "large.txt").write_text("0123456789 0123456789\n" * 150_000)
    messages = await ask("go", p.options(permission_mode="bypassPermissions"))
    return {"result": ended(messages).result, "errors": [error for error, _ in tool_results(messages)]}


async def stderr(p: Place) -> Facts:
    lines: list[str] = []
    messages = await ask("go", p.options(stderr=lines.append, extra_args={"effort": "gigantic"}))
    return {"result": ended(messages).result, "heard": any("gigantic" in line for line in lines)}


async def image(p: Place) -> Facts:
    source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    blocks = [{"type": "text", "text": "what is it?"}, {"type": "image", "source": source}]
    return {"result": ended(await ask(said(blocks), p.options())).result}


async def hooks(p: Place) -> Facts:
    fired: list[str] = []

    async def hook(given: Any, tool_use_id: Any, context: Any) -> dict[str, Any]:
        event = given["hook_event_name"]
        about = given.get("prompt") or given.get("tool_input", {}).get("command")
        fired.append(f"{event} {about or given.get('stop_hook_active')}")
        return dict(answer(event, str(about), given))

    matchers = {"PreToolUse": "Bash", "PostToolUse": "Ba.*", "UserPromptSubmit": None, "Stop": None}
    wanted = {event: [sdk.HookMatcher(matcher=m, hooks=[hook])] for event, m in matchers.items()}
    messages = await ask("go", p.options(hooks=wanted, allowed_tools=["Bash"]))
    return {
        "fired": fired,
        "results": tool_results(messages),
        "files": files(p),
        "result": ended(messages).result,
    }


def answer(event: str, about: str, given: Any) -> Facts:
    """What the hook says to each event."""
    named: Facts = {"hookEventName": event}
    if event == "UserPromptSubmit":
        return {"hookSpecificOutput": {**named, "additionalContext": "be careful"}}
    if about == "touch a.txt":
        denial = {"permissionDecision": "deny", "permissionDecisionReason": "not this one"}
        return {"hookSpecificOutput": {**named, **denial}}
    if about == "touch b.txt":
        return {"hookSpecificOutput": {**named, "updatedInput": {"command": "touch changed.txt"}}}
    return (
        {"decision": "block", "reason": "again"} if event == "Stop" and not given["stop_hook_active"] else {}
    )


async def inner_mcp(p: Place) -> Facts:
    async def add(given: dict[str, Any]) -> dict[str, Any]:
        if given["b"] == 0:
            return {"content": [{"type": "text", "text": "nothing to add"}], "is_error": True}
        return {"content": [{"type": "text", "text": str(given["a"] + given["b"])}]}

    adding = sdk.tool("add", "adds", {"a": int, "b": int})(add)
    server = sdk.create_sdk_mcp_server("calc", tools=[adding])
    options = p.options(mcp_servers={"calc": server}, allowed_tools=["mcp__calc__add"])
    async with sdk.ClaudeSDKClient(options) as client:
        await client.query("go")
        seen = [m async for m in client.receive_response()]
        status = (await client.get_mcp_status())["mcpServers"]
    told = [(wrong, c if isinstance(c, str) else c[0]["text"]) for wrong, c in tool_results(seen)]
    results = [[wrong, words.partition("\n")[0]] for wrong, words in told]
    return {"results": results, "result": ended(seen).result, "status": status}


async def control(p: Place) -> Facts:
    async with sdk.ClaudeSDKClient(p.options()) as client:
        await client.query("one")
        first = [m async for m in client.receive_response()]
        usage = await client.get_context_usage()
        status = await client.get_mcp_status()
        await client.stop_task("nothing")
        refused = await _refused(client.set_permission_mode("bypassPermissions"))
        unknown = await _refused(client.toggle_mcp_server("x", True))
    return {
        "result": ended(first).result,
        "usage": [
            usage["model"],
            usage["totalTokens"] > 0,
            usage["maxTokens"],
            usage["isAutoCompactEnabled"],
        ],
        "mcp": status,
        "refused": [refused, unknown],
    }


async def _refused(doing: Awaitable[Any]) -> str:
    try:
        await doing
    except Exception as error:  # noqa: BLE001 - the SDK raises plain exceptions
        return str(error)
    return ""


async def thinking(p: Place) -> Facts:
    wanted = {"type": "enabled", "budget_tokens": 2000}
    return {"result": ended(await ask("go", p.options(thinking=wanted, include_hook_events=True))).result}


async def store(p: Place) -> Facts:
    # The store is only fed by a CLI that has the same home as this program.
    kept, env = sdk.InMemorySessionStore(), {"HOME": os.environ["HOME"]}
    first = ended(await ask("q1", p.options(session_store=kept, env=env)))
    for transcript in Path(os.environ["HOME"]).rglob(f"{first.session_id}.jsonl"):
        transcript.unlink()
    second = ended(await ask("q2", p.options(session_store=kept, resume=first.session_id, env=env)))
    return {"results": [first.result, second.result], "same": first.session_id == second.session_id}


async def sessions(p: Place) -> Facts:
    done = ended(await ask("find me", p.options(env={"HOME": os.environ["HOME"]})))
    listed = sdk.list_sessions(directory=str(p.cwd))
    messages = sdk.get_session_messages(done.session_id, directory=str(p.cwd))
    return {
        "listed": [(s.session_id == done.session_id, s.first_prompt) for s in listed],
        "messages": [m.type for m in messages],
    }


async def rewind(p: Place) -> Facts:
    options = p.options(
        enable_file_checkpointing=True,
        permission_mode="acceptEdits",
        extra_args={"replay-user-messages": None},
    )
    async with sdk.ClaudeSDKClient(options) as client:
        await client.query("go")
        seen = [m async for m in client.receive_response()]
        there = (p.cwd / "new.txt").exists()
        await client.rewind_files(next(m.uuid for m in seen if isinstance(m, sdk.UserMessage)))
    return {"files": [there, (p.cwd / "new.txt").exists()]}


async def background(p: Place) -> Facts:
    messages = await ask("go", p.options(allowed_tools=["Bash"]))
    tasks = [m.subtype for m in messages if "task_" in getattr(m, "subtype", "")]
    return {"results": [m.result for m in messages if isinstance(m, sdk.ResultMessage)], "tasks": tasks}


async def given_settings(p: Place) -> Facts:
    wanted = json.dumps({"permissions": {"allow": ["Bash(touch *)"]}})
    messages = await ask("go", p.options(settings=wanted))
    return {"errors": [error for error, _ in tool_results(messages)]}


SCENARIOS: list[Callable[[Place], Awaitable[Facts]]] = [
    query,
    stream,
    turns,
    permission,
    refusal,
    raising,
    stop_tool,
    stop_stream,
    partial,
    structured,
    past,
    own_id,
    agents,
    no_sources,
    sources,
    prompt_text,
    prompt_preset,
    prompt_file,
    max_turns,
    budget,
    tools,
    places,
    api_error,
    no_session,
    large,
    stderr,
    image,
    hooks,
    inner_mcp,
    control,
    thinking,
    store,
    sessions,
    rewind,
    background,
    given_settings,
]


async def play(scenario: Callable[[Place], Awaitable[Facts]], place: Place, free: asyncio.Semaphore) -> Facts:
    async with free:
        try:
            async with asyncio.timeout(20):
                return await scenario(place)
        except Exception as error:  # noqa: BLE001 - one broken scenario must not hide the others
            return {"failed": f"{type(error).__name__}: {error}"}


async def main(plan: dict[str, Any]) -> None:
    free = asyncio.Semaphore(4)
    wanted = [s for s in SCENARIOS if s.__name__ in plan["places"]]
    played = [play(s, Place(plan["cli"], plan["places"][s.__name__]), free) for s in wanted]
    seen = await asyncio.gather(*played)
    facts = {s.__name__: told for s, told in zip(wanted, seen, strict=True)}
    print(json.dumps(facts))


if __name__ == "__main__":
    asyncio.run(main(json.loads(Path(sys.argv[1]).read_text())))
