"""What a judge is told of a session: the person's words and what was done, by agent.

No text of a model, no result of a tool and nothing that anybody says of a call is in it. Each
agent's account only grows at its end, until it is too long: then its oldest deeds go, never words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Literal, TypeAlias, TypeVar

import msgspec

from gatewright.agent.auto.entries import LONGEST, cut, line, what_it_does
from gatewright.agent.compact.estimate import text_tokens
from gatewright.agent.record.events import (
    AgentFinished,
    AgentStarted,
    Answered,
    AnyEvent,
    Cleared,
    Compacted,
    Decided,
    Envelope,
    HookRan,
    Rewound,
    ToolStarted,
    UserMessage,
)
from gatewright.tools.access import MAIN
from gatewright.tools.protocol import JsonObject, TextContent

WAITING = 256  # calls that began and are not decided yet
REMEMBERED = 20_000  # events of the main agent: as far back as a deed is taken back
GROWN = 160_000  # tokens of deeds that are kept where nothing is judged
KEEP = 0.75  # of the limit is left once deeds have to go
BESIDES = (AgentStarted, AgentFinished, Rewound)  # what a branch is read again without
SILENT = frozenset({"read", "free", "human"})  # families that need no judging, and are not told
Value = TypeVar("Value")
FETCHING = frozenset({"web", "search", "mcp"})  # what others wrote may have led who did that
_FETCHES = re.compile(
    r"://|\b(?:curl|wget|aria2c|http|https|xh|ssh|scp|sftp|rsync|nc|ncat|socat|telnet|gh|glab)\b"
    r"|\bgit\s+(?:-\S+\s+)*(?:clone|fetch|pull)\b"
)
Family: TypeAlias = Callable[[str], str]  # of a tool, by its name in a record


class TooLong(Exception):
    """What the person said alone is more than a judge can read."""


Kind: TypeAlias = Literal["words", "task", "deed"]


class _Piece(msgspec.Struct, frozen=True):
    text: str
    tokens: int
    kind: Kind


class Told:
    """The account of one agent: lines, and blocks of lines that will not change any more."""

    def __init__(self) -> None:
        self.pieces: list[_Piece] = []
        self.blocks: list[str] = []
        self.marks: list[str] = []  # of each piece: the event it is from
        self.deeds = 0
        self.doubtful = False  # it fetched something, or was refused
        self.judged = False  # a call of it was
        self.tokens = 0
        self._sealed = 0
        self._deeds = 0  # tokens of what was done

    def add(self, entry: Mapping[str, object], mark: str, kind: Kind = "deed") -> None:
        text = line(entry)
        self.take(_Piece(text, text_tokens(text), kind), mark)

    def take(self, piece: _Piece, mark: str = "") -> None:
        self.pieces.append(piece)
        self.marks.append(mark)
        self.tokens += piece.tokens
        if piece.kind == "deed":
            self._deeds += piece.tokens
            if self._deeds > GROWN:  # nothing was judged for long: no judge would be shown these
                with suppress(TooLong):
                    self._shorten(self.tokens - GROWN // 2)

    def seal(self, most: int) -> tuple[str, ...]:
        """All so far, as blocks of which each is sent again as it was. Raises TooLong."""
        if self.tokens > most:
            self._shorten(most)
        if self._sealed < len(self.pieces):
            self.blocks.append("\n".join(each.text for each in self.pieces[self._sealed :]))
            self._sealed = len(self.pieces)
        return tuple(self.blocks)

    def _shorten(self, most: int) -> None:
        over, gone = self.tokens - int(most * KEEP), 0
        kept: list[tuple[_Piece, str]] = []
        for piece, mark in zip(self.pieces, self.marks, strict=True):
            if over > 0 and piece.kind == "deed":
                over -= piece.tokens
                gone += 1
            else:
                kept.append((piece, mark))
        self._take(kept)
        if self.tokens > most:
            raise TooLong
        told = line({"left_out": f"{gone} older entries"})
        self.pieces.insert(0, _Piece(told, text_tokens(told), "deed"))
        self.marks.insert(0, "")
        self.tokens += self.pieces[0].tokens

    def back_to(self, known: Callable[[str], bool], *, words_only: bool = False) -> None:
        """Only what was told by events that still count; an agent's own deeds stay done."""
        kept = [
            (piece, mark)
            for piece, mark in zip(self.pieces, self.marks, strict=True)
            if not mark or known(mark) or (words_only and piece.kind != "words")
        ]
        if len(kept) < len(self.pieces):
            self._take(kept)

    def _take(self, kept: list[tuple[_Piece, str]]) -> None:
        self.pieces = [piece for piece, _ in kept]
        self.marks = [mark for _, mark in kept]
        self.tokens = sum(piece.tokens for piece in self.pieces)
        self._deeds = sum(piece.tokens for piece in self.pieces if piece.kind == "deed")
        self.blocks, self._sealed = [], 0


class Account:
    """A fold over all events, stored ones first."""

    def __init__(self, family: Family) -> None:
        self._family = family
        self._told: dict[str, Told] = {MAIN: Told()}
        self._began: dict[str, JsonObject] = {}  # by call
        self._numbers: dict[str, int] = {}  # of calls that were told before they were decided
        self._ended: dict[str, Told] = {}  # agents, until they are looked through
        self._branch: list[str] = []  # the main agent's events that count, oldest first

    def of(self, agent: str) -> Told:
        found = self._told.get(agent)
        if found is None:  # begun before this was listening: what the person said, and no more
            found = self._told[agent] = self._begun()
        return found

    def ended(self, child: str) -> Told | None:
        """The account of an agent that has ended; None where nothing of it needs a look."""
        told = self._ended.pop(child, None) or self._told.get(child)
        return told if told is not None and told.doubtful else None

    def judged(self, agent: str) -> bool:
        """Whether a call of that agent was, be it at work or ended."""
        told = self._ended.get(agent) or self._told.get(agent)
        return told is not None and told.judged

    def words(self) -> list[str]:
        """All that the person said, as lines of the account."""
        return [piece.text for piece in self.of(MAIN).pieces if piece.kind == "words"]

    def pending(self, agent: str, call_id: str, entry: Mapping[str, object]) -> None:
        """A call that is about to be judged; how it is decided is told when it is."""
        told = self.of(agent)
        told.judged = True
        told.deeds += 1
        remember(self._numbers, call_id, told.deeds)
        told.add({"action": told.deeds, **entry}, self._branch[-1] if self._branch else "")

    def saw(self, envelope: Envelope) -> None:
        event, agent = envelope.event, envelope.agent
        if agent == MAIN and event.durable and envelope.uuid:
            self._branch.append(envelope.uuid)
            del self._branch[:-REMEMBERED]
        match event:
            case UserMessage(hidden=False, source="") if agent == MAIN:
                self._said(event, envelope.uuid)
            case ToolStarted(call_id=id, input=input):
                remember(self._began, id, input)
            case Decided():
                self._decided(event, agent, envelope.uuid)
            case Answered(answer=answer) if answer.text.strip():
                # Maybe of a program that answers in the person's place: it may only forbid.
                self._beside(answer.text, envelope.uuid if agent == MAIN else "")
            case HookRan(noted=noted) if noted:
                self.of(agent).add({"unverified_note_of_a_hook": cut(noted)}, envelope.uuid)
            case AgentStarted():
                self._delegated(event, agent, envelope.uuid)
            case AgentFinished(child=child) if child in self._told:
                remember(self._ended, child, self._told.pop(child))
            case _ if agent == MAIN:
                self._bounded(event, envelope.uuid)
            case _:
                pass

    def _bounded(self, event: AnyEvent, mark: str) -> None:
        if isinstance(event, Compacted) and not self.of(MAIN).pieces:
            for text in event.words:  # the file was read from here on
                self._words(text, "")
        elif isinstance(event, Cleared):
            self._told, self._branch = {MAIN: Told()}, [mark]
        elif isinstance(event, Rewound):
            found = event.to in self._branch  # what it cannot find leaves no word that permits
            at = self._branch.index(event.to) + 1 if found else 0
            self._back(self._branch[:at])
            self._branch.append(mark)  # where the next one may go back to

    def _back(self, branch: list[str]) -> None:
        counts, self._branch = frozenset(branch), branch
        for agent, told in self._told.items():
            told.back_to(counts.__contains__, words_only=agent != MAIN)

    def renew(self, branch: Sequence[Envelope]) -> None:
        """The main agent's account anew, from the events of the branch that counts now."""
        others = {agent: told for agent, told in self._told.items() if agent != MAIN}
        self._told, self._branch = {MAIN: Told()}, []
        for envelope in branch:
            if envelope.agent == MAIN and not isinstance(envelope.event, BESIDES):
                self.saw(envelope)
        self._branch = [envelope.uuid for envelope in branch if envelope.uuid][-REMEMBERED:]
        counts = frozenset(self._branch)
        for told in others.values():
            told.back_to(counts.__contains__, words_only=True)
        self._told |= others

    def _said(self, event: UserMessage, mark: str) -> None:
        """What was pasted, piped or rendered is no more theirs than a page is."""
        texts = (part.text for part in event.content if isinstance(part, TextContent))
        text = "\n".join(texts) if event.typed is None else event.typed
        if text.strip():
            self._words(text, mark)

    def _beside(self, text: str, mark: str) -> None:
        for told in self._told.values():
            told.add({"said_beside_an_answer": cut(text)}, mark)

    def _words(self, text: str, mark: str) -> None:
        for told in self._told.values():
            told.add({"the_person_said": text}, mark, "words")

    def _begun(self) -> Told:
        told = Told()
        main = self.of(MAIN)
        for piece, mark in zip(main.pieces, main.marks, strict=True):
            if piece.kind == "words":
                told.take(piece, mark)
        return told

    def _delegated(self, event: AgentStarted, starter: str, mark: str) -> None:
        told = self._told[event.child] = self._begun()
        above = self.of(starter)
        for piece in above.pieces:  # the chain of those who handed it on
            if piece.kind == "task":
                told.take(piece)
        told.add({"handed_on_by": starter, "task": cut(event.prompt)}, mark, "task")

    def _decided(self, event: Decided, agent: str, mark: str) -> None:
        input = self._began.pop(event.call_id, None)
        number = self._numbers.pop(event.call_id, None)
        outcome = "allowed" if event.behavior == "allow" else "denied"
        family = self._family(event.tool)
        fetched = family in FETCHING or event.tool.startswith("mcp__")
        if family == "shell" and input is not None:
            fetched = _FETCHES.search(str(input.get("command", ""))) is not None
        if outcome == "denied" or fetched:
            self.of(agent).doubtful = True
        by = "the person" if event.answer in ("once", "always", "no", "stop", "told") else ""
        if number is not None:
            ended: JsonObject = {"decided": number, "outcome": outcome}
            self.of(agent).add(ended | ({"by": by} if by else {}), mark)
        elif family not in SILENT:
            told = self.of(agent)
            told.deeds += 1
            does = (
                what_it_does(event.tool, input)
                if input is not None
                else {"target": event.target[:LONGEST]}
            )
            entry: JsonObject = {"action": told.deeds, "tool": event.tool, "does": does}
            entry |= {"outcome": outcome} | ({"by": by} if by else {})
            told.add(entry, mark)


def remember(kept: dict[str, Value], key: str, value: Value) -> None:
    kept[key] = value
    while len(kept) > WAITING:
        del kept[next(iter(kept))]
