"""`/memory` lists the memory files of a conversation; `/init` asks the model to write one."""

from __future__ import annotations

import os

import msgspec

from forge.agent.memory import Memory
from forge.agent.session import Prompt, Session
from forge.agent.texts.load import text
from forge.core.memory.file import MemoryFile
from forge.core.message import Text

NAMES = ("CLAUDE.md", "AGENTS.md")


async def list_memory(s: Session, argument: str) -> str:
    """The files in use with what they are and their size, then those that came in later."""
    memory = s.keep(Memory)
    started = {f.path for f in memory.start.files}
    later = [p for p in sorted(memory.delivered - started) if os.path.basename(p).endswith(".md")]
    lines = [_line(f) for f in memory.start.files]
    lines += [f"{path} (added when a file near it was used)" for path in later]
    lines += [f"not used: {skipped.path} ({skipped.reason})" for skipped in memory.start.skipped]
    lines += [str(note) for note in memory.start.diagnostics]
    if memory.request is not None and memory.request.auto_dir:
        lines.append(f"Notes of the model: {memory.request.auto_dir}")
    return "\n".join(lines) or "No memory files are in use. /init lets the model write one."


def expand_init(s: Session, prompt: Prompt) -> Prompt:
    """The prompt that `/init` stands for; every other prompt as it is."""
    name, _, wishes = prompt.text.partition(" ")
    if name != "/init" or prompt.verbatim:
        return prompt
    words = text("memory_init").replace("{file}", _file(s))
    if wishes.strip():
        words = f"{words}\n\nThe user adds: {wishes.strip()}"
    typed = "<command-message>init</command-message>\n<command-name>/init</command-name>"
    if wishes.strip():
        typed += f"\n<command-args>{wishes.strip()}</command-args>"
    return msgspec.structs.replace(prompt, content=[Text(typed), Text(words)], verbatim=True)


def _file(s: Session) -> str:
    """The file to write: the one that is there, else the name that will be read."""
    here = s.situation.start_dir
    paths = [os.path.join(here, name) for name in NAMES]
    existing = [path for path in paths if os.path.isfile(path)]
    if existing:
        return existing[0]
    # Where a CLAUDE.md is in use, an AGENTS.md would not be read.
    return paths[1] if s.keep(Memory).start.agents_active else paths[0]


def _line(file: MemoryFile) -> str:
    size = len(file.content.strip().encode())
    source = f", imported by {file.parent}" if file.parent else ""
    return f"{file.path} ({file.label}; {size:,} bytes{source})"
