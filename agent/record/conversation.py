"""The model's history as a fold over events.

Live and resumed sessions run this same fold: fold(stored) equals fold(live).
"""

from __future__ import annotations

from collections.abc import Iterable

from gatewright.agent.compact.estimate import content_tokens, part_tokens, turns_tokens, with_margin
from gatewright.agent.compact.rounds import Cut, Rounds
from gatewright.agent.record.events import (
    AnyEvent,
    AssistantMessage,
    Cleared,
    Compacted,
    ImagesDropped,
    ResultsCleared,
    Snipped,
    ToolFinished,
    TurnEnded,
    UserMessage,
)
from gatewright.agent.record.messages import (
    AssistantPart,
    AssistantTurn,
    CallPart,
    ResultTurn,
    Turn,
    Usage,
    UserTurn,
)
from gatewright.tools.protocol import Content, ImageContent, TextContent

WORDS = 200  # inputs of the person that are remembered word for word


class Conversation:
    """Grows by `apply`, at the same cost at any length; `view` is what a provider may be sent."""

    def __init__(self) -> None:
        self._history = Rounds()
        self._open: dict[str, CallPart] = {}
        self.call_ids: set[str] = set()  # of all that was applied, also what was cleared
        self._put_off = ""  # the call that the next turn begins with
        self.last_usage = Usage()
        self._words: list[tuple[int, str]] = []  # what the person typed, by rounds
        self._added = 0  # tokens, guessed, since an answer was counted

    def apply(self, event: AnyEvent) -> None:
        """Take one event of the main agent; events that the model is not told of do nothing."""
        match event:
            case UserMessage(content=content, hidden=hidden):
                if not hidden:
                    self._history.begin()
                self._history.add(UserTurn(content))
                self._added += content_tokens(content)
                if not hidden:
                    self._said(content)
            case AssistantMessage(parts=parts, model=model, usage=usage):
                self._history.add(AssistantTurn(parts, model))
                self._called(parts)
                if usage.context:
                    self.last_usage, self._added = usage, 0
                else:
                    self._added += sum(map(part_tokens, parts))
            case ToolFinished(call_id=call_id, ok=ok, content=content):
                self._history.add(ResultTurn(call_id, ok, content))
                self._open.pop(call_id, None)
                self._added += content_tokens(content)
            case Compacted():
                self._begin_after(event)
            case Cleared():
                self._restart()
                self._words = []
            case _:
                self._besides(event)

    def _besides(self, event: AnyEvent) -> None:
        match event:
            case ImagesDropped():
                self._history.drop_images()
            case ResultsCleared(call_ids=call_ids, tokens=tokens):
                self._history.clear(call_ids)
                self._added -= tokens
            case Snipped(rounds=rounds, results=results, tokens=tokens, undo=undo):
                self._history.snip(Cut(frozenset(rounds), frozenset(results)), undo=undo)
                self._added -= tokens
            case TurnEnded(waits=CallPart(id=id)):
                self._put_off = id
            case _:
                pass

    def rebuild(self, events: Iterable[AnyEvent]) -> None:
        """Become the fold of these events: another branch than the one so far."""
        self._restart()
        self._words = []
        for event in events:
            self.apply(event)

    @property
    def tokens(self) -> int:
        """How full the window is: exact as of the last answer, a guess for what came since.

        Before the first answer system prompt and tools are not in it.
        """
        counted = self.last_usage.context
        return max(0, counted + self._added) if counted else with_margin(max(0, self._added))

    @property
    def counted(self) -> bool:
        """Whether `tokens` has the system prompt and the tools in it."""
        return self.last_usage.context > 0

    @property
    def words(self) -> list[str]:
        """What the person typed since the last clear, without what they cut out."""
        cut = self._history.cut.rounds
        return [text for number, text in self._words if number not in cut]

    @property
    def rounds(self) -> Rounds:
        """For whoever shows and cuts them."""
        return self._history

    def view(self) -> tuple[Turn, ...]:
        return self._history.view()

    def has_images(self) -> bool:
        turns = (turn for turn in self._history.view() if not isinstance(turn, AssistantTurn))
        return any(isinstance(part, ImageContent) for turn in turns for part in turn.content)

    @property
    def waiting(self) -> CallPart | None:
        """The call without a result that the next turn begins with, because it was put off."""
        return self._open.get(self._put_off)

    def dangling(self) -> tuple[CallPart, ...]:
        """Calls without a result that were not put off: what a crash left behind."""
        return tuple(call for id, call in self._open.items() if id != self._put_off)

    def _called(self, parts: Iterable[AssistantPart]) -> None:
        calls = {part.id: part for part in parts if isinstance(part, CallPart)}
        self.call_ids.update(calls)
        self._open.update(calls)

    def _said(self, content: Iterable[Content]) -> None:
        text = "\n".join(part.text for part in content if isinstance(part, TextContent))
        if text.strip():
            self._words.append((self._history.count, text))
            del self._words[:-WORDS]

    def _begin_after(self, event: Compacted) -> None:
        self._restart()
        opening = event.opening or event.summary
        turns = (UserTurn((TextContent(opening),)), *event.turns)
        for turn in turns:
            self._history.add(turn)
            if isinstance(turn, AssistantTurn):
                self._called(turn.parts)
            elif isinstance(turn, ResultTurn):
                self._open.pop(turn.call_id, None)
        self._history.settle()
        self._added = turns_tokens(turns)
        self._words = [(0, text) for text in event.words]

    def _restart(self) -> None:
        self._history = Rounds()
        self._open = {}
        self.last_usage = Usage()
        self._added = 0
