"""Another program of the Agent SDK for Python: queued prompts, guards, parallel calls, spare models."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from sdk.python_program import Facts, Place, ask, ended, files, play, said, sdk, tool_results


async def gathered(p: Place) -> Facts:
    prompts: list[str] = []

    async def hear(given: Any, tool_use_id: Any, context: Any) -> Facts:
        prompts.append(given["prompt"])
        return {}

    hooks = {"UserPromptSubmit": [sdk.HookMatcher(hooks=[hear])]}
    messages = await ask(said("a", "b", "c", "d"), p.options(hooks=hooks))
    return {"results": [m.result for m in messages if isinstance(m, sdk.ResultMessage)], "prompts": prompts}


async def ordered(p: Place) -> Facts:
    messages = await ask("go", p.options(permission_mode="bypassPermissions"))
    return {"results": [content for _, content in tool_results(messages)]}


async def late_guard(p: Place) -> Facts:
    async def guard(given: Any, tool_use_id: Any, context: Any) -> Facts:
        await asyncio.sleep(60)
        return {}

    hooks = {"PreToolUse": [sdk.HookMatcher(hooks=[guard], timeout=0.1)]}
    messages = await ask("go", p.options(hooks=hooks, allowed_tools=["Bash"]))
    return {"results": tool_results(messages), "files": files(p)}


async def broken_guard(p: Place) -> Facts:
    async def guard(given: Any, tool_use_id: Any, context: Any) -> Facts:
        raise RuntimeError("boom")

    hooks = {"PreToolUse": [sdk.HookMatcher(hooks=[guard])]}
    messages = await ask("go", p.options(hooks=hooks, allowed_tools=["Bash"]))
    told = [m.data["content"] for m in messages if getattr(m, "subtype", "") == "informational"]
    return {"results": tool_results(messages), "told": told}


async def asked_tool(p: Place) -> Facts:
    asked: list[str] = []

    async def may(given: Any) -> Facts:
        asked.append(given["input"]["command"])
        answer: Facts = {"behavior": "deny", "message": "not this one"}
        if "good" in asked[-1]:
            answer = {"behavior": "allow", "updatedInput": given["input"]}
        return {"content": [{"type": "text", "text": json.dumps(answer)}]}

    given = {"tool_name": str, "input": dict, "tool_use_id": str}
    server = sdk.create_sdk_mcp_server("guard", tools=[sdk.tool("may", "decides", given)(may)])
    options = p.options(mcp_servers={"guard": server}, permission_prompt_tool_name="mcp__guard__may")
    return {"results": tool_results(await ask("go", options)), "asked": asked, "files": files(p)}


async def withdrawn(p: Place) -> Facts:
    events: list[str] = []
    asked = asyncio.Event()

    async def may(tool: str, given: Facts, context: Any) -> Any:
        events.append("asked")
        asked.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            events.append("cancelled")
            raise

    async with sdk.ClaudeSDKClient(p.options(can_use_tool=may)) as client:
        await client.query("go")
        await asked.wait()
        await client.interrupt()
        events.append("interrupted")
        async for _ in client.receive_response():
            pass
        await client.query("again")
        again = [m async for m in client.receive_response()]
    return {"events": events, "files": files(p), "next": ended(again).result}


async def fallback(p: Place) -> Facts:
    env = {"CLAUDE_CODE_MAX_RETRIES": "0"}
    messages = await ask("go", p.options(fallback_model="claude-haiku-4-5", env=env))
    told = [m.data for m in messages if getattr(m, "subtype", "") == "model_fallback"]
    switch = [[t["trigger"], t["original_model"], t["fallback_model"]] for t in told]
    return {"result": ended(messages).result, "switch": switch}


async def no_output(p: Place) -> Facts:
    async def quiet(given: Any) -> Facts:
        return {"content": []}

    server = sdk.create_sdk_mcp_server("calc", tools=[sdk.tool("quiet", "says nothing", {})(quiet)])
    messages = await ask("go", p.options(mcp_servers={"calc": server}, allowed_tools=["mcp__calc"]))
    return {"results": tool_results(messages)}


async def put_off(p: Place) -> Facts:
    async def guard(given: Any, tool_use_id: Any, context: Any) -> Facts:
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "defer"}}

    hooks = {"PreToolUse": [sdk.HookMatcher(hooks=[guard])]}
    first = ended(await ask("go", p.options(hooks=hooks, allowed_tools=["Bash"])))
    before = files(p)
    again = await ask("go on", p.options(resume=first.session_id, allowed_tools=["Bash"]))
    results = [m.result for m in again if isinstance(m, sdk.ResultMessage)]
    waits = first.deferred_tool_use.input["command"]
    return {"waits": waits, "before": before, "results": results, "files": files(p)}


async def changed_output(p: Place) -> Facts:
    async def change(given: Any, tool_use_id: Any, context: Any) -> Facts:
        output = {"stdout": "another", "stderr": "", "interrupted": False}
        return {"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": output}}

    hooks = {"PostToolUse": [sdk.HookMatcher(hooks=[change])]}
    return {"results": tool_results(await ask("go", p.options(hooks=hooks, allowed_tools=["Bash"])))}


async def main(plan: dict[str, Any]) -> None:
    free = asyncio.Semaphore(4)
    scenarios = [gathered, ordered, late_guard, broken_guard, asked_tool, withdrawn, fallback, no_output]
    scenarios += [put_off, changed_output]
    played = [play(s, Place(plan["cli"], plan["places"][s.__name__]), free) for s in scenarios]
    seen = await asyncio.gather(*played)
    print(json.dumps({s.__name__: told for s, told in zip(scenarios, seen, strict=True)}))


if __name__ == "__main__":
    asyncio.run(main(json.loads(Path(sys.argv[1]).read_text())))
