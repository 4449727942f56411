"""What the answers of all model APIs have in common: events of JSON, one start and one end."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator

from gatewright.agent.errors import FailureKind
from gatewright.agent.providers.protocol import MessageStarted, Piece
from gatewright.agent.providers.streams.foreign_json import Unreadable, count, decoded, table, text
from gatewright.agent.providers.streams.sse import Sse
from gatewright.agent.record.messages import Usage
from gatewright.tools.protocol import JsonObject


class EventReader(ABC):
    """Reads one answer of `who`. Raises ProviderError where it reports a failure in the stream."""

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
            from gatewright.agent.providers.errors import failure  # noqa: PLC0415  lazy: 1 ms

            raise failure(
                FailureKind.TRANSPORT, "an event of the stream is not readable", who=self._who
            ) from error
        return self._event(text(data.get("type")) or event.event, data)

    @abstractmethod
    def _event(self, kind: str, data: JsonObject) -> Iterable[Piece]:
        """The pieces of one event."""

    @abstractmethod
    def whole(self, body: JsonObject) -> Iterable[Piece]:
        """A complete answer of a server that does not stream."""

    @abstractmethod
    def end(self) -> Iterable[Piece]:
        """The bytes ended: the last piece where the answer was complete without saying so."""

    def _done(self) -> Iterable[Piece]:
        """The mark that some servers send behind the last event."""
        return ()

    def _begin(self, message: JsonObject) -> Iterator[Piece]:
        if not self._started:
            self._started = True
            yield MessageStarted(text(message.get("id")), self._model)


def usage_of(usage: JsonObject) -> Usage:
    """Either API of OpenAI counts cached tokens among the input's; we keep them apart."""
    details = table(usage.get("prompt_tokens_details")) or table(usage.get("input_tokens_details"))
    read = count(details.get("cached_tokens")) or count(usage.get("prompt_cache_hit_tokens"))
    written = count(details.get("cache_write_tokens"))
    given = count(usage.get("prompt_tokens")) or count(usage.get("input_tokens"))
    return Usage(
        input=max(0, given - read - written),
        output=count(usage.get("completion_tokens")) or count(usage.get("output_tokens")),
        cache_read=read,
        cache_write=written,
    )
