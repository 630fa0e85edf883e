"""Measures the discovery of plugins against the bare cost of walking, reading and decoding the same files.

Run: python benchmarks/discovery.py
"""

from __future__ import annotations

import gc
import os
import shutil
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable

import msgspec

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "src"))

from forge.core.plugins.candidates import Request
from forge.core.plugins.discover import Discovered, PluginShelf, discover
from forge.foundation.frontmatter import parse
from forge.foundation.paths import find_places

SKILL = """---
name: skill-{n}
description: Does the thing number {n}. Use when somebody asks for it.
allowed-tools: Read, Grep
---
# Skill {n}

{body}
"""
BODY = "Look at the files, then answer $ARGUMENTS in one paragraph.\n" * 20


def main() -> None:
    for plugins in (20, 1000):
        home = tempfile.mkdtemp(prefix="forge-bench-")
        try:
            make(home, plugins, 5)
            report(home, plugins, 5)
        finally:
            shutil.rmtree(home)


def make(home: str, plugins: int, skills: int) -> None:
    """Plugins with a manifest, skills, a command, an agent, hooks and a server."""
    for number in range(plugins):
        root = f"{home}/.forge/plugins/plugin-{number}"
        manifest = {
            "name": f"plugin-{number}",
            "version": "1.0.0",
            "description": "d",
            "author": {"name": "n"},
        }
        write(f"{root}/.claude-plugin/plugin.json", msgspec.json.encode(manifest).decode())
        for n in range(skills):
            write(f"{root}/skills/skill-{n}/SKILL.md", SKILL.format(n=n, body=BODY))
        write(f"{root}/commands/run.md", SKILL.format(n="run", body=BODY))
        write(f"{root}/agents/helper.md", SKILL.format(n="helper", body=BODY))
        hooks = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}
        write(f"{root}/hooks/hooks.json", msgspec.json.encode(hooks).decode())
        server = {"mcpServers": {"s": {"command": "true", "args": [str(number)]}}}
        write(f"{root}/.mcp.json", msgspec.json.encode(server).decode())


def write(path: str, text: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def bare(home: str) -> int:
    """The least that any program must do: walk, read, decode."""
    count = 0
    for place, _, files in os.walk(f"{home}/.forge/plugins"):
        for name in files:
            with open(f"{place}/{name}", "rb") as file:
                data = file.read()
            if name.endswith(".json"):
                msgspec.json.decode(data)
            else:
                parse(data.decode(), name)
            count += 1
    return count


def report(home: str, plugins: int, skills: int) -> None:
    request = Request(find_places({"HOME": home}, home), trusted=True)
    found = discover(request)
    assert len(found.active) == plugins and not found.errors, found.errors
    shelf = PluginShelf()
    discover(request, shelf)
    floor = best(lambda: bare(home))
    cold = best(lambda: discover(request))
    again = best(lambda: discover(request, shelf))
    print(f"{plugins} plugins, {plugins * skills} skills")
    print(f"  walk, read, decode  {floor * 1000:8.1f} ms CPU")
    print(f"  discovery           {cold * 1000:8.1f} ms CPU   ratio {cold / floor:.2f}")
    print(f"  cached reload       {again * 1000:8.1f} ms CPU   ratio {again / floor:.2f}")
    print(f"  peak memory         {peak(lambda: discover(request)) / 1e6:8.1f} MB")


def best(work: Callable[[], object]) -> float:
    """The shortest of several runs, in CPU seconds."""
    times = []
    for _ in range(5):
        gc.collect()
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def peak(work: Callable[[], Discovered]) -> int:
    """The most memory that was held at once while it ran."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


if __name__ == "__main__":
    main()
