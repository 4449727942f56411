"""Print mode as text: the final answer on standard output, everything else on standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatewright.agent.commands.outcome import Scope
from gatewright.agent.frontends.json_lines import Sink, encode
from gatewright.agent.frontends.live import Live
from gatewright.agent.frontends.must_know import Told
from gatewright.agent.frontends.running import Running
from gatewright.agent.frontends.turn import (
    CRASHED,
    MISSHAPEN,
    UNSENT,
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
    DiagnosticsTold,
    Envelope,
    InputRefused,
    Noticed,
    ToolFinished,
    ToolStarted,
    TurnEnded,
)
from gatewright.agent.session.session import Session
from gatewright.agent.text.printable import visible
from gatewright.tools.access import MAIN
from gatewright.tools.interact import Answer

if TYPE_CHECKING:
    from gatewright.agent.frontends.sdk.prompt_tool import PromptTool
    from gatewright.agent.turn.structured_answer import Shape


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
    `chatty`. What goes to a `Live` is printed as it comes, and then not again.
    """
    shape = shape_of(options)
    live = out if shape is None and isinstance(out, Live) else None
    wants_calls = chatty or bool(options.prompt_tool)
    follower = Follower(session, shape, (ToolStarted, ToolFinished) if wants_calls else ())
    told, progress = Told(), Progress()
    answers = _prompt_tool(session, options.prompt_tool) if options.prompt_tool else None
    answer = ""
    ended: TurnEnded | None = None
    unsent = ""
    async for envelope in follower.turn(options.prompt, typed=options.typed, scope=scope):
        match envelope.event:
            case AssistantMessage() as message if envelope.agent == MAIN:
                answer = text_of(message) or answer
            case TurnEnded() as end if envelope.agent == MAIN:
                ended = end
            case InputRefused(reason=reason):
                unsent = reason
            case Asked(id=ask) if not options.prompt_tool:
                session.answer(ask, Answer(cancelled=True))
            case _:
                pass
        if answers is not None:
            answers.saw(envelope)
        happened = progress.line(envelope)
        if live is not None:
            live.saw(envelope)
        _say(told.line(envelope) or (happened if chatty else ""), live, err)
    follower.background.tell(err)
    if ended is None:
        err.write(visible(f"agent: {UNSENT.format(reason=unsent) if unsent else CRASHED}\n"))
        return Exit.ERROR
    return _finish("" if live is not None else answer, ended, shape, (out, err))


def _say(line: str, live: Live | None, err: Sink) -> None:
    if line and live is not None:
        live.end_line()
    if line:
        err.write(visible(f"{line}\n"))


def _prompt_tool(session: Session, name: str) -> PromptTool:
    from gatewright.agent.frontends.sdk.prompt_tool import PromptTool  # noqa: PLC0415  lazy: 3 ms

    return PromptTool(session, name)


def _finish(answer: str, ended: TurnEnded, shape: Shape | None, streams: tuple[Sink, Sink]) -> int:
    """Print the answer, and why there is none or only a part."""
    out, err = streams
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
            state = "ok" if ok else "failed"
            how = f"{state}: {summary}" if summary != state else state
            return f"  {name}{how}" if summary != "refused" else ""
        case Noticed(text=text, tone="normal" | "dim" | "good"):
            return text
        case DiagnosticsTold(summary=summary, files=files):
            return f"  diagnostics: {summary} ({', '.join(files[:3])})"
        case _:
            return ""
