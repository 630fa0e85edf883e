"""The host of the tour: shows what happens as it happens, and remembers it for the checks."""

from __future__ import annotations

import os

import msgspec

from forge.agent.event import (
    AgentSaid,
    ApiFailed,
    Denied,
    Event,
    HookEnded,
    JobEnded,
    JobStarted,
    Replied,
    Streaming,
    ToolFinished,
    TurnEnded,
    Warned,
)
from forge.agent.host import Answer, Question, Refuse
from forge.agent.rewind import Change
from forge.core.job import Job, JobEnd
from forge.core.message import Text, Usage
from forge.core.model import BlockDelta, BlockFinished, Delta
from forge.hosts.cli.screen import WIDEST, Screen, Typist, wrap
from forge.hosts.cli.tour import Step, Tour
from forge.hosts.cli.tour_lines import result_lines, result_size, review_lines, subject


class Ended(msgspec.Struct, frozen=True):
    """A job that is over; `meanwhile` replies of the model were asked for while it ran."""

    job: Job
    end: JobEnd
    meanwhile: int = 0


class Rewound(msgspec.Struct, frozen=True):
    """Files that were taken back, and those that git saw changed right afterwards."""

    changes: list[Change]
    different: list[str]


class TourHost:
    """Prints events; `screen` None prints nothing. Nobody is asked: what no rule allows is refused."""

    def __init__(self, tour: Tour, repository: str, screen: Screen | None) -> None:
        self._repository = repository
        self._screen = screen
        self._typist = Typist(screen, f"  {screen.signs['model']} ", "    ") if screen else None
        self._typing = False
        self._news: list[Ended] = []
        self._review = "".join(act.review for act in tour.acts)
        remarks = [*(step.say for step in tour.steps), *(act.rewind for act in tour.acts), self._review]
        self._told, self._to_tell = 0, len([words for words in remarks if words])
        self._replies = 0
        self._replies_before: dict[str, int] = {}
        self.finished: list[ToolFinished] = []
        self.denied: list[Denied] = []
        self.troubles: list[str] = []
        self.usage = Usage()
        self.agent_usage = Usage()
        self.agent_calls: list[tuple[Job, ToolFinished]] = []
        self.agents: list[Ended] = []
        self.jobs: list[Ended] = []
        self.rewound: list[Rewound] = []
        self.reviews: list[str] = []

    def emit(self, event: Event) -> None:
        if isinstance(event, Streaming):
            self._type(event.delta)
        elif isinstance(event, Denied):
            self.denied.append(event)
        elif isinstance(event, ToolFinished):
            self.finished.append(event)
            self._show_call(event)
        elif isinstance(event, JobStarted | JobEnded):
            self._follow(event)
        elif isinstance(event, HookEnded):
            self._show_review(event)
        elif isinstance(event, AgentSaid):
            self._hear(event.job, event.event)
        elif isinstance(event, Warned | ApiFailed):
            self.troubles.append(event.text)
        elif isinstance(event, TurnEnded):
            self.usage += event.usage

    async def ask(self, question: Question) -> Answer:
        return Refuse(question.decision.message, asked=False)

    def refused(self, event: ToolFinished) -> bool:
        """Whether a finished call was one that was not allowed."""
        return any(denied.call.id == event.call.id for denied in self.denied)

    def present(self, step: Step) -> None:
        """Says what is to be seen in a step; the model has been asked for it and is about to answer."""
        self._replies += 1
        self._remark(step.say)

    def prompt(self, words: str) -> None:
        """Shows what the user says."""
        if self._screen is not None:
            self._screen.line()
            self._screen.say(words, "bold", first=f"{self._screen.signs['prompt']} ", then="  ")

    def rewind(self, why: str, rewound: Rewound) -> None:
        """Shows which files were taken back."""
        self.rewound.append(rewound)
        screen = self._screen
        if screen is None:
            return
        self._remark(why)
        sign = screen.paint(screen.signs["back"], "yellow")
        screen.line(f"  {sign} {screen.paint('Rewind', 'bold')} to before the first request")
        for change in rewound.changes:
            path = os.path.relpath(change.path, self._repository)
            what = "removed" if change.copy is None else "restored"
            self._result(f"{what} {path} (+{change.insertions} -{change.deletions})", "yellow")

    def _show_review(self, ended: HookEnded) -> None:
        """Shows what the reviewer rejected; a review that has nothing against it is not worth a line."""
        if ended.event != "Stop" or not ended.exit_code:
            return
        self.reviews.append(ended.stderr)
        self._remark(self._review)
        self._head("news", "yellow", "Review", "diffy")
        for line in review_lines(ended.stderr):
            self._result(*line)

    def _remark(self, words: str) -> None:
        screen = self._screen
        if screen is None:
            return
        screen.line()
        if words:
            self._told += 1
            mark = f"{self._told}/{self._to_tell} "
            screen.say(words, "cyan", first=mark, then=" " * len(mark))

    def _type(self, delta: Delta) -> None:
        if self._typist is None:
            return
        if isinstance(delta, BlockDelta) and delta.kind == "text":
            self._typing = True
            self._typist.feed(delta.text)
        elif isinstance(delta, BlockFinished) and isinstance(delta.block, Text):
            self._typist.end()
            self._typing = False
            self._tell_news()

    def _follow(self, event: JobStarted | JobEnded) -> None:
        job = event.job
        if isinstance(event, JobStarted):
            self._replies_before[job.id] = self._replies
            if job.kind == "local_agent":
                self._head("call", "green", "Agent", f"{job.agent_type}: {job.description}")
        elif job.kind == "local_agent":
            self.agents.append(Ended(job, event.end))
            figures = event.end.usage or {}
            calls, tokens = figures.get("tool_uses", 0), self.agent_usage.context
            words = f"{calls} tool {'call' if calls == 1 else 'calls'}, about {tokens:,} tokens"
            self._result(f"its own conversation: {words}", "cyan", "cyan")
        elif job.backgrounded:
            meanwhile = self._replies - self._replies_before.get(job.id, 0)
            self.jobs.append(Ended(job, event.end, meanwhile))
            if not event.end.quiet:
                self._news.append(self.jobs[-1])
                self._tell_news()

    def _hear(self, job: Job, event: Event) -> None:
        """What a sub-agent does is shown in short, beside a line of its own."""
        if isinstance(event, ToolFinished):
            self.agent_calls.append((job, event))
            what = f"{event.call.name} {subject(event.call, self._repository)}"
            sign = self._screen.signs["no" if event.result.is_error else "call"] if self._screen else ""
            self._result(f"{sign} {what}: {result_size(event)}", "dim", "cyan")
        elif isinstance(event, Replied) and isinstance(event.block, Text) and self._screen is not None:
            sign = self._screen.signs["model"]
            for number, line in enumerate(wrap(event.block.text, min(self._screen.width, WIDEST) - 8)):
                self._result(f"{' ' if number else sign} {line}", "", "cyan")
        elif isinstance(event, TurnEnded):
            self.agent_usage += event.usage
        elif isinstance(event, Denied):
            self.denied.append(event)

    def _tell_news(self) -> None:
        """Shows which jobs have ended, but not in the middle of a sentence."""
        screen = self._screen
        if screen is None or self._typing:
            return
        for ended in self._news:
            sign = screen.paint(screen.signs["news"], "yellow")
            words = screen.clip(ended.end.summary, 4)
            screen.line()
            screen.line(f"  {sign} {screen.paint(words, 'yellow')}")
        self._news = []

    def _show_call(self, event: ToolFinished) -> None:
        screen = self._screen
        if screen is None or (event.call.name == "Agent" and not event.result.is_error):
            return
        refused = self.refused(event)
        failed = bool(event.result.is_error)
        style = "alarm" if refused else "red" if failed else "green"
        words = subject(event.call, self._repository)
        self._head("no" if failed else "call", style, event.call.name, words)
        if not refused:
            for line, line_style in result_lines(event):
                self._result(line, line_style)
            return
        self._result("REFUSED by the permission rules. It did not run.", "alarm")
        for line, line_style in result_lines(event):
            for part in wrap(line, screen.width - 6):
                self._result(part, line_style)

    def _head(self, sign: str, style: str, name: str, words: str) -> None:
        screen = self._screen
        if screen is not None:
            what = screen.clip(words, len(name) + 5)
            screen.line(f"  {screen.paint(screen.signs[sign], style)} {screen.paint(name, 'bold')} {what}")

    def _result(self, line: str, style: str, bar: str = "dim") -> None:
        screen = self._screen
        if screen is not None:
            begin = screen.paint(screen.signs["result"], bar)
            screen.line(f"    {begin} {screen.paint(screen.clip(line, 6), style)}".rstrip())
