"""Blocks one after the other, also where a server sends two calls at once.

The open lane streams. A call that is not complete stays open, and what belongs to other lanes
waits; a call whose arguments are complete JSON gives way at once. Work per character is constant.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator

from gatewright.agent.providers.protocol import (
    BlockEnded,
    CallStarted,
    InputPiece,
    Piece,
    TextPiece,
    ThinkingPiece,
)
from gatewright.agent.providers.streams.answer_limits import CALL, CONTENT, Meter

_MARK = re.compile(r'[\\"{}\[\]]')


class _Call:
    def __init__(self, id: str, name: str) -> None:
        self.id = id
        self.name = name
        self.json: list[str] = []
        self.shown = 0  # pieces of json already given out
        self.begun = False
        self._depth = 0
        self._quoted = False
        self._escaped = False  # the next character
        self._opened = False

    @property
    def complete(self) -> bool:
        """Whether every bracket is closed: what came is never read twice."""
        return self._opened and self._depth <= 0 and not self._quoted

    def add(self, json: str) -> None:
        self.json.append(json)
        escaped = 0 if self._escaped else -1  # where a character stands that ends nothing
        self._escaped = self._escaped and not json
        for found in _MARK.finditer(json):
            at, mark = found.start(), found[0]
            if at == escaped:
                continue
            if mark == '"':
                self._quoted = not self._quoted
            elif mark == "\\":
                escaped = at + 1
                self._escaped = escaped == len(json)
            elif not self._quoted:
                self._opened = True
                self._depth += 1 if mark in "{[" else -1


class Lanes:
    """Of one answer of `who`."""

    def __init__(self, who: str) -> None:
        self._meter = Meter(who, CONTENT)
        self._open = ""  # text, thinking, call or nothing
        self._calls: OrderedDict[int, _Call] = OrderedDict()  # not ended, in order of their start
        self._late: list[TextPiece | ThinkingPiece] = []
        self._next = 0

    def text(self, words: str) -> Iterator[Piece]:
        if words:
            yield from self._words("text", TextPiece(words))

    def thinking(self, piece: ThinkingPiece) -> Iterator[Piece]:
        yield from self._words("thinking", piece)

    def start(self, id: str, name: str) -> tuple[int, Iterator[Piece]]:
        """A new call: its handle, and what there is to show."""
        self._meter.took(CALL)
        handle = self._next
        self._next += 1
        self._calls[handle] = _Call(id, name)
        return handle, self._start()

    def arguments(self, handle: int, json: str) -> Iterator[Piece]:
        call = self._calls.get(handle)
        if call is None or not json:
            return  # ended already: a server that repeats itself
        call.add(json)
        if call.begun:
            yield from self._show(call)

    def _start(self) -> Iterator[Piece]:
        yield from self.end_block()
        yield from self._give_way(to_words=False)

    def rename(self, handle: int, id: str, name: str) -> None:
        """Id or name came late; of use only while the call has not been shown."""
        call = self._calls.get(handle)
        if call is not None and not call.begun:
            call.id = call.id or id
            call.name = call.name or name

    def end_block(self) -> Iterator[Piece]:
        """The open text or thinking is complete."""
        if self._open in ("text", "thinking"):
            self._open = ""
            yield BlockEnded()

    def end_call(self, handle: int) -> Iterator[Piece]:
        """A server that says when a call is complete."""
        call = self._calls.get(handle)
        if call is not None and call.begun:
            yield from self._end(handle)
            yield from self._give_way(to_words=False)

    def end(self) -> Iterator[Piece]:
        yield from self.end_block()
        for handle, call in list(self._calls.items()):
            yield from self._begin(call)
            yield from self._end(handle)
        late, self._late = self._late, []
        for piece in late:
            yield from self._words("text" if isinstance(piece, TextPiece) else "thinking", piece)
        yield from self.end_block()

    def _words(self, lane: str, piece: TextPiece | ThinkingPiece) -> Iterator[Piece]:
        if self._open != lane:
            yield from self.end_block()
            yield from self._give_way(to_words=True)
            if self._calls:
                self._late.append(piece)  # behind a call that is not complete
                return
            self._open = lane
        yield piece

    def _give_way(self, *, to_words: bool) -> Iterator[Piece]:
        """End the calls that are complete; to another call, the last one stays open."""
        while self._calls:
            handle, call = next(iter(self._calls.items()))
            yield from self._begin(call)
            if not call.complete or (len(self._calls) == 1 and not to_words):
                return
            yield from self._end(handle)

    def _begin(self, call: _Call) -> Iterator[Piece]:
        if not call.begun:
            call.begun = True
            self._open = "call"
            yield CallStarted(call.id, call.name)
        yield from self._show(call)

    def _show(self, call: _Call) -> Iterator[Piece]:
        while call.shown < len(call.json):
            yield InputPiece(call.json[call.shown])
            call.shown += 1

    def _end(self, handle: int) -> Iterator[Piece]:
        del self._calls[handle]
        self._open = ""
        yield BlockEnded()
