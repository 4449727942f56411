"""The model's history as a fold over events, and its repair before every request.

Live and resumed sessions run this same fold: fold(stored) equals fold(live).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from gatewright.agent.events import (
    AnyEvent,
    AssistantMessage,
    Cleared,
    Compacted,
    ToolFinished,
    UserMessage,
)
from gatewright.agent.messages import (
    AssistantPart,
    AssistantTurn,
    CallPart,
    ResultTurn,
    TextPart,
    ThinkingPart,
    Turn,
    Usage,
    UserTurn,
)
from gatewright.tools.protocol import Content, TextContent

INTERRUPTED = "Interrupted before it finished. Whether it had any effect is not known."


class Conversation:
    """Grows by `apply`; `turns` is what was said, `view` what a provider may be sent."""

    def __init__(self) -> None:
        self._turns: list[Turn] = []
        self.call_ids: set[str] = set()
        self.last_usage = Usage()

    @property
    def turns(self) -> Sequence[Turn]:
        return self._turns

    def apply(self, event: AnyEvent) -> None:
        """Take one event of the main agent; events that the model is not told of do nothing."""
        match event:
            case UserMessage(content=content):
                self._turns.append(UserTurn(content))
            case AssistantMessage(parts=parts, model=model, usage=usage):
                self._turns.append(AssistantTurn(parts, model))
                self.call_ids.update(part.id for part in parts if isinstance(part, CallPart))
                self.last_usage = usage
            case ToolFinished(call_id=call_id, ok=ok, content=content):
                self._turns.append(ResultTurn(call_id, ok, content))
            case Compacted(summary=summary):
                self._turns = [UserTurn((TextContent(summary),))]
            case Cleared():
                self._turns = []
                self.last_usage = Usage()
            case _:
                pass

    def view(self) -> tuple[Turn, ...]:
        return paired(self._turns)


def paired(turns: Iterable[Turn]) -> tuple[Turn, ...]:
    """A history every provider accepts, whatever was cut, lost or doubled.

    Each call has exactly one result, right behind the message that made it; results nobody asked
    for, repeated ids and empty parts are gone; the first turn is the person's.
    """
    source = list(turns)
    results = _first_results(source)
    seen: set[str] = set()
    out: list[Turn] = []
    for turn in source:
        match turn:
            case UserTurn(content=content):
                kept = _filled(content)
                if kept:
                    _append_user(out, kept)
            case AssistantTurn(parts=parts, model=model):
                sound = _sound_parts(parts, seen)
                if not out or not any(isinstance(p, TextPart | CallPart) for p in sound):
                    continue
                _append_assistant(out, AssistantTurn(sound, model))
                for part in sound:
                    if isinstance(part, CallPart):
                        seen.add(part.id)
                        out.append(results.get(part.id) or _interrupted(part.id))
            case ResultTurn():
                pass  # placed behind its call above
    return tuple(out)


def dangling(turns: Iterable[Turn]) -> tuple[CallPart, ...]:
    """Calls without a result: what a crash or an interrupt left behind."""
    calls: dict[str, CallPart] = {}
    for turn in turns:
        if isinstance(turn, AssistantTurn):
            calls.update({part.id: part for part in turn.parts if isinstance(part, CallPart)})
        elif isinstance(turn, ResultTurn):
            calls.pop(turn.call_id, None)
    return tuple(calls.values())


def _first_results(turns: Sequence[Turn]) -> dict[str, ResultTurn]:
    found: dict[str, ResultTurn] = {}
    for turn in turns:
        if isinstance(turn, ResultTurn) and turn.call_id not in found:
            content = _filled(turn.content) or (TextContent("(no output)"),)
            found[turn.call_id] = msgspec.structs.replace(turn, content=content)
    return found


def _interrupted(call_id: str) -> ResultTurn:
    return ResultTurn(call_id, ok=False, content=(TextContent(INTERRUPTED),))


def _filled(content: Sequence[Content]) -> tuple[Content, ...]:
    return tuple(part for part in content if not isinstance(part, TextContent) or part.text.strip())


def _append_user(out: list[Turn], content: tuple[Content, ...]) -> None:
    """Adjacent inputs become one turn: roles must alternate."""
    if out and isinstance(last := out[-1], UserTurn):
        out[-1] = UserTurn(last.content + content)
    else:
        out.append(UserTurn(content))


def _append_assistant(out: list[Turn], turn: AssistantTurn) -> None:
    """Adjacent answers become one; thinking survives only where one model wrote both."""
    if not isinstance(last := out[-1], AssistantTurn):
        out.append(turn)
        return
    parts = last.parts + turn.parts
    if last.model != turn.model:
        parts = tuple(part for part in parts if not isinstance(part, ThinkingPart))
    out[-1] = AssistantTurn(parts, turn.model)


def _sound_parts(parts: Sequence[AssistantPart], seen: set[str]) -> tuple[AssistantPart, ...]:
    kept: list[AssistantPart] = []
    here: set[str] = set()
    for part in parts:
        if isinstance(part, TextPart) and not part.text.strip():
            continue
        if isinstance(part, CallPart):
            if not part.id or part.id in seen or part.id in here:
                continue
            here.add(part.id)
        kept.append(part)
    return tuple(kept)
