"""What the answers of all model APIs have in common: events of JSON, one start and one end."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator

from gatewright.agent.errors import FailureKind
from gatewright.agent.providers.errors import failure
from gatewright.agent.providers.protocol import MessageStarted, Piece
from gatewright.agent.providers.streams.foreign_json import Unreadable, decoded, table, text
from gatewright.agent.providers.streams.sse import Sse
from gatewright.agent.record.messages import Usage
from gatewright.tools.protocol import JsonObject


class EventReader(ABC):
    """Reads one answer of `who`."""

    def __init__(self, model: str, who: str) -> None:
        self._model = model
        self._who = who
        self._started = False
        self._finished = False
        self._usage = Usage()

    def feed(self, event: Sse) -> Iterable[Piece]:
        if self._finished:
            return ()
        if event.data.strip() == b"[DONE]":
            return self._done()
        try:
            data = table(decoded(event.data, cut=True))
        except Unreadable as error:
            raise failure(
                FailureKind.TRANSPORT, "an event of the stream is not readable", who=self._who
            ) from error
        return self._event(text(data.get("type")) or event.event, data)

    @abstractmethod
    def _event(self, kind: str, data: JsonObject) -> Iterable[Piece]:
        """The pieces of one event."""

    def _done(self) -> Iterable[Piece]:
        """The mark that some servers send behind the last event."""
        return ()

    def _begin(self, message: JsonObject) -> Iterator[Piece]:
        if not self._started:
            self._started = True
            yield MessageStarted(text(message.get("id")), self._model)
