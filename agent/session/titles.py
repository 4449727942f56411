"""Names a session after its first exchange, with a small model; nobody ever waits for it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

from gatewright.agent.errors import GatewrightError
from gatewright.agent.models.model import OpenModel
from gatewright.agent.models.short_answer import booked, short_answer
from gatewright.agent.record.events import (
    AnyEvent,
    Cleared,
    Compacted,
    Rewound,
    TitleChanged,
    ToolFinished,
    TurnEnded,
    UserMessage,
)
from gatewright.agent.record.messages import Usage
from gatewright.agent.session.housekeeping import Once
from gatewright.agent.turn.stop import Stop
from gatewright.tools.protocol import TextContent

TIME = 15.0
SEEN = 0.3  # seconds in which the first answer is on the screen: it comes before its title
READ = 2_000  # characters of the first input
LIMIT = 60
NO_MODEL = "demo"  # it answers, but names nothing
REPEAT = 32 * 1024  # bytes; half of what listing reads of a file's end
SYSTEM = (
    "You name conversations of a coding agent. Answer with nothing but a title of three to seven "
    "words in the language of the message: what is to be done, without quotation marks or a "
    "final full stop."
)

log = logging.getLogger(__name__)


class Namer(Once):
    """Fed with the main agent's events, stored ones first; names a session nobody named."""

    def __init__(
        self,
        open_model: Callable[[], OpenModel],
        publish: Callable[[AnyEvent], object],
        *,
        seen: float = SEEN,
    ) -> None:
        self._seen = seen
        self._open_model = open_model
        self._publish = publish
        self._said = ""
        self._named = False
        super().__init__()

    def restore(self, event: AnyEvent) -> None:
        if isinstance(event, TitleChanged):
            self._named = True
        elif isinstance(event, Compacted | Cleared):
            self._named = bool(event.carried.title)
        elif isinstance(event, UserMessage) and not event.hidden and not self._said:
            texts = (part.text for part in event.content if isinstance(part, TextContent))
            self._said = "\n".join(texts)

    def saw(self, event: AnyEvent) -> None:
        self.restore(event)
        ready = self._said and not self._named and self._task is None
        if ready and isinstance(event, TurnEnded) and event.stop is Stop.COMPLETED:
            self._task = asyncio.create_task(self._name(), name="title of the session")

    async def _name(self) -> None:
        await asyncio.sleep(self._seen)
        try:
            model = await asyncio.to_thread(self._open_model)
        except GatewrightError as error:
            log.info("no title: %s", error)
            return
        try:
            title = await make_title(model, self._said, booked(self._publish, model, "title"))
        finally:
            await model.provider.close()
        if title and not self._named:
            self._publish(TitleChanged(title=title))


class TitleKeeper:
    """Says the title again when much was written since: listing reads the ends of a file only."""

    def __init__(self, path: Path, publish: Callable[[AnyEvent], object]) -> None:
        self._path = path
        self._publish = publish
        self._title = ""
        self._said_at = 0

    def restore(self, event: AnyEvent) -> None:
        if isinstance(event, TitleChanged):
            self._title = event.title
        elif isinstance(event, Compacted | Cleared | Rewound):
            self._title = event.carried.title

    def saw(self, event: AnyEvent) -> None:
        self.restore(event)
        if isinstance(event, TitleChanged):
            self._said_at = self._size()
        elif isinstance(event, TurnEnded | ToolFinished) and self._title and self._grown():
            # Not from within a publish: everybody shall see the events in one order.
            again = TitleChanged(title=self._title)
            asyncio.get_running_loop().call_soon(self._publish, again)

    def _grown(self) -> bool:
        return self._size() - self._said_at > REPEAT

    def _size(self) -> int:
        try:
            return self._path.stat().st_size
        except OSError:
            return 0


async def make_title(model: OpenModel, said: str, paid: Callable[[Usage], object]) -> str:
    """An empty string where none is to be had; without a model it is how the message begins."""
    if model.provider.name == NO_MODEL:
        return tidy(said)
    message = f"<message>\n{said[:READ]}\n</message>"
    try:
        return tidy(
            await short_answer(model, SYSTEM, message, max_output=100, seconds=TIME, paid=paid)
        )
    except (GatewrightError, TimeoutError) as error:
        log.info("no title: %s", error)
        return ""


def tidy(text: str) -> str:
    """One line, without what models put around titles."""
    line = next((line for line in text.strip().splitlines() if line.strip()), "")
    return " ".join(line.strip(" \t\"'`*#“”„.").removeprefix("Title:").split())[:LIMIT].strip()
