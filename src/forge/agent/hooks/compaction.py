"""What hooks have to say before and after a conversation is summarised."""

from __future__ import annotations

from forge.agent.event import CompactionSkipped
from forge.agent.hooks.port import Told
from forge.agent.hooks.sites import give_title
from forge.agent.hooks.state import HookState
from forge.agent.session import Session
from forge.foundation.errors import ModelError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.agent.hooks.answer import Answer

AROUND = ("PreCompact", "PostCompact")
BLOCKED = "Compaction blocked by PreCompact hook: "


class Blocked(ModelError):
    """A hook does not want the conversation summarised."""


async def before_compaction(s: Session, trigger: str, instructions: str) -> list[str]:
    """PreCompact: further instructions for the summary; raises `Blocked` if there shall be none."""
    outcome = await s.hooks.fire("PreCompact", trigger=trigger, custom_instructions=instructions or None)
    if outcome.blocks:
        block = outcome.blocks[0]
        said = block.text if block.by_exit else f"[{block.label}]: {block.text}"
        words = BLOCKED + said.rstrip()
        s.emit(CompactionSkipped(words))
        if trigger == "manual":
            raise Blocked(words, kind="context_overflow")
        raise ModelError("Prompt is too long", kind="context_overflow", hint=words)
    return outcome.plain


def note_runs(s: Session, event: str, answers: list[Answer]) -> None:
    """Keeps in a line what became of each hook, for whoever asked for the compaction."""
    for answer in answers:
        worked = answer.outcome == "success"
        how = "completed successfully" if worked else "failed"
        said = (answer.run.stdout if worked else answer.run.stderr).strip()
        line = f"{event} [{answer.run.hook.label}] {how}" + (f": {said}" if said else "")
        s.keep(HookState).around_compaction.append(line)


def take_runs(s: Session) -> str:
    """What hooks did around the compaction that has just ended."""
    state = s.keep(HookState)
    lines, state.around_compaction = state.around_compaction, []
    return "\n".join(lines)


async def after_summary(s: Session, summary: str) -> list[Told]:
    """The helper that wrote the summary has stopped, and the session starts anew: what hooks add to that."""
    await s.hooks.fire(
        "SubagentStop",
        agent_id=f"acompact-{s.parts.new_id()[:8]}",
        stop_hook_active=False,
        agent_transcript_path="",
        last_assistant_message=summary,
        background_tasks=[],
        session_crons=[],
    )
    outcome = await s.hooks.fire("SessionStart", source="compact", model=s.model.card.id)
    give_title(s, outcome.title)
    return outcome.told
