"""Print mode as text: the final answer on standard output, everything else on standard error."""

from __future__ import annotations

from gatewright.agent.commands.outcome import Scope
from gatewright.agent.frontends.json_lines import Sink, encode
from gatewright.agent.frontends.running import Running
from gatewright.agent.frontends.turn import (
    CRASHED,
    MISSHAPEN,
    Follower,
    shape_of,
    text_of,
)
from gatewright.agent.launch.exits import Exit, code_of
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.record.events import (
    AnyEvent,
    Asked,
    AssistantMessage,
    Envelope,
    Noticed,
    ToolFinished,
    ToolStarted,
    TurnEnded,
)
from gatewright.agent.record.must_know import Told
from gatewright.agent.session.session import Session
from gatewright.agent.text.printable import visible
from gatewright.agent.turn.structured_answer import Shape
from gatewright.tools.access import MAIN
from gatewright.tools.interact import Answer


async def run(
    session: Session,
    options: LaunchOptions,
    out: Sink,
    err: Sink,
    *,
    chatty: bool = False,
    scope: Scope | None = None,
) -> int:
    """Ask `options.prompt` and print the answer; returns the exit code.

    Errors, waits and whatever the person must know always go to `err`; progress only when
    `chatty`.
    """
    shape = shape_of(options)
    follower = Follower(session, shape)
    told, progress = Told(), Progress()
    answer = ""
    ended: TurnEnded | None = None
    async for envelope in follower.turn(options.prompt, typed=options.typed, scope=scope):
        match envelope.event:
            case AssistantMessage() as message if envelope.agent == MAIN:
                answer = text_of(message) or answer
            case TurnEnded() as end if envelope.agent == MAIN:
                ended = end
            case Asked(id=ask):
                session.answer(ask, Answer(cancelled=True))
            case _:
                pass
        happened = progress.line(envelope)
        if line := told.line(envelope) or (happened if chatty else ""):
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
        case Noticed(text=text, tone="normal" | "dim" | "good"):
            return text
        case _:
            return ""
