"""Print mode as text: the final answer on standard output, everything else on standard error."""

from __future__ import annotations

from gatewright.agent.events import (
    AnyEvent,
    Asked,
    AssistantMessage,
    Decided,
    Envelope,
    Noticed,
    RetryScheduled,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from gatewright.agent.exits import Exit, code_of
from gatewright.agent.frontends.running import Running
from gatewright.agent.frontends.turn import (
    CRASHED,
    MAIN,
    MISSHAPEN,
    Follower,
    shape_of,
    text_of,
)
from gatewright.agent.frontends.wire import Sink, encode
from gatewright.agent.options import LaunchOptions
from gatewright.agent.printable import visible
from gatewright.agent.session import Session
from gatewright.agent.structured import Shape
from gatewright.tools.interact import Answer

PATIENCE = 3.0  # seconds of waiting that need no word


async def run(
    session: Session, options: LaunchOptions, out: Sink, err: Sink, *, chatty: bool = False
) -> int:
    """Ask `options.prompt` and print the answer; returns the exit code.

    Errors, waits, and what was wrong before the first turn, always go to `err`; progress only
    when `chatty`.
    """
    shape = shape_of(options)
    follower = Follower(session, shape)
    early, progress = EarlyWarnings(), Progress()
    answer = ""
    ended: TurnEnded | None = None
    async for envelope in follower.turn(options.prompt):
        match envelope.event:
            case AssistantMessage() as message if envelope.agent == MAIN:
                answer = text_of(message) or answer
            case TurnEnded() as end if envelope.agent == MAIN:
                ended = end
            case Asked(id=ask):
                session.answer(ask, Answer(cancelled=True))
            case _:
                pass
        told = chatty or worth_a_word(envelope.event)
        if line := early.line(envelope) or (progress.line(envelope) if told else ""):
            err.write(visible(f"{line}\n"))
    return _finish(answer, ended, shape, (out, err))


def _finish(
    answer: str, ended: TurnEnded | None, shape: Shape | None, streams: tuple[Sink, Sink]
) -> int:
    """Print the answer, and why there is none or only a part."""
    out, err = streams
    if ended is None:
        err.write(f"agent: {CRASHED}\n")
        return Exit.ERROR
    code = code_of(ended)
    if shape is not None and code is Exit.OK:
        if problem := shape.problem(answer):
            err.write(visible(f"agent: {MISSHAPEN.format(problem=problem)}\n"))
            return Exit.ERROR
        answer = encode(shape.value(answer))
    if answer:
        out.write(answer if answer.endswith("\n") else f"{answer}\n")
    if ended.message:
        err.write(visible(f"agent: {ended.message}\n"))
    return code


def worth_a_word(event: AnyEvent) -> bool:
    """A silence that somebody would wonder about."""
    return isinstance(event, RetryScheduled) and event.seconds >= PATIENCE


class EarlyWarnings:
    """What is wrong with settings, trust or storage: said also where nobody wants progress."""

    def __init__(self) -> None:
        self._begun = False

    def line(self, envelope: Envelope) -> str:
        match envelope.event:
            case TurnStarted():
                self._begun = True
            case Noticed(text=text, tone="warning" | "error") if not self._begun:
                return f"agent: {text}"
            case _:
                pass
        return ""


class Progress:
    """One line about each thing that happens; results of calls side by side name their call."""

    def __init__(self) -> None:
        self._running = Running()

    def line(self, envelope: Envelope) -> str:
        """An empty string for what is not worth one."""
        name = self._running.name_of(envelope.event)
        line = _line(envelope.event, name)
        return f"[{envelope.agent}] {line}" if line and envelope.agent != MAIN else line


def _line(event: AnyEvent, name: str) -> str:
    match event:
        case ToolStarted(verb=verb, target=target):
            return f"{verb} {target}".rstrip()
        case ToolFinished(ok=ok, summary=summary) if summary:
            how = f"{'ok' if ok else 'failed'}: {summary}"
            return f"  {name}{how}" if summary != "refused" else ""
        case Decided(behavior="deny", tool=tool, reason=reason):
            return f"  denied {tool}: {reason}"
        case RetryScheduled(attempt=attempt, attempts=attempts, seconds=seconds, reason=reason):
            return f"{reason} Trying again in {seconds:.0f} s ({attempt} of {attempts})."
        case Noticed(text=text):
            return text
        case _:
            return ""
