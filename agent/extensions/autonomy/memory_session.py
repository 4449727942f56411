"""Follows a session for what is worth remembering, and finds what earlier ones know of a message.

A turn never waits for the first, and for the second no longer than it says. What goes wrong is
logged: nobody needs memory to go on.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from datetime import date

from msgspec.structs import replace

from gatewright.agent.autonomy.memory import extracting, recalling
from gatewright.agent.autonomy.memory.facts import Fact, Topic
from gatewright.agent.autonomy.memory.heard import Heard, read_before
from gatewright.agent.autonomy.memory.keepable import Known, keepable
from gatewright.agent.autonomy.memory.learnt_book import LearntBook, numbered
from gatewright.agent.errors import GatewrightError
from gatewright.agent.extensions.host import Host
from gatewright.agent.models.short_answer import booked, short_answer
from gatewright.agent.record.events import (
    AnyEvent,
    Cleared,
    Compacted,
    Noticed,
    Rewound,
    Snipped,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from gatewright.agent.text.printable import escaped
from gatewright.agent.turn.stop import Stop
from gatewright.tools.access import MAIN
from gatewright.tools.protocol import Content, TextContent

CALLS = 4  # of a turn after which there may be something to learn
EVERY = 600.0  # seconds between two looks
IDLE = 60.0  # seconds that a look waits for the session to be idle
NO_MODEL = "demo"  # it answers, and knows nothing

log = logging.getLogger(__name__)


class MemorySession:
    def __init__(
        self,
        host: Host,
        book: LearntBook,
        *,
        clock: Callable[[], float] = time.monotonic,
        today: Callable[[], date] = date.today,
    ) -> None:
        self._host, self._book, self._clock, self._today = host, book, clock, today
        self._heard = Heard()
        self._calls = 0
        self._last: float | None = None
        self._told: set[str] = set()  # topics that the model has
        self._task: asyncio.Task[None] | None = None

    def saw(self, event: AnyEvent) -> None:
        """Of the main agent."""
        self._heard.saw(event)
        match event:
            case TurnStarted():
                self._calls = 0
            case ToolStarted():
                self._calls += 1
            case TurnEnded(stop=Stop.COMPLETED) if self._due():
                self._last = self._clock()
                self._task = asyncio.create_task(self._learn(), name="memory of the session")
            case Compacted() | Cleared() | Rewound() | Snipped():
                self._told.clear()
            case _:
                pass

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    def _due(self) -> bool:
        running = self._task is not None and not self._task.done()
        early = self._last is not None and self._clock() - self._last < EVERY
        if running or early or self._calls < CALLS or self._host.around.options.no_session:
            return False
        return bool(self._heard.typed)  # what nobody typed teaches nothing

    # learning

    async def _learn(self) -> None:
        try:
            async with asyncio.timeout(IDLE):
                await self._host.session.idle()
            if not self._book.on:
                return
            heard, self._heard = self._heard, self._heard.next()
            facts = await self._found(heard)
            if facts:
                await self._keep(facts)
        except (GatewrightError, TimeoutError) as error:
            log.info("nothing learnt: %s", error)

    async def _found(self, heard: Heard) -> Sequence[Fact]:
        """Raises GatewrightError, TimeoutError."""
        store, redactor = self._book.store, self._host.base.redactor
        now = await asyncio.to_thread(store.look)
        waiting = await asyncio.to_thread(store.waiting)
        kept = [fact.text for fact in (*now.facts(), *waiting)]
        asked = extracting.question(heard, kept, redactor)
        answer = await self._asked(extracting.SYSTEM, asked, extracting.OUTPUT, extracting.SECONDS)
        proposals = extracting.proposals(answer)
        memory = self._host.briefing.last().files
        known = Known(
            typed=heard.typed,
            done=heard.done,
            outputs=(*await asyncio.to_thread(self._before), *heard.outputs),
            kept=kept,
            written="\n".join(file.text for file in memory),
        )

        def sorted_out() -> Sequence[Fact]:
            found: list[Fact] = []
            for each in proposals:
                texts = (*known.kept, *(fact.text for fact in found))
                fact, why = keepable(each, replace(known, kept=texts), redactor)
                if fact is None:
                    log.info("not remembered: %s", why)
                else:
                    found.append(self._marked(fact))
            return found

        return await asyncio.to_thread(sorted_out)

    def _before(self) -> Sequence[str]:
        stored = self._host.base.start.stored
        return read_before(each.event for each in stored if each.agent == MAIN)

    def _marked(self, fact: Fact) -> Fact:
        session = self._host.base.start.id[:8]
        return replace(fact, day=self._today().isoformat(), session=session)

    async def _keep(self, facts: Sequence[Fact]) -> None:
        """Raises GatewrightError."""
        store = self._book.store
        if self._book.mode == "on":
            await asyncio.to_thread(store.learn, facts)
            self._tell("Noted for later sessions (/memory):", [f"- {f.text}" for f in facts])
        else:
            await asyncio.to_thread(store.wait, facts)
            waiting = await asyncio.to_thread(store.waiting)
            begin = "Worth noting for later sessions? /memory keep keeps these, /memory drop none:"
            self._tell(begin, numbered(waiting))

    def _tell(self, begin: str, lines: Sequence[str]) -> None:
        self._host.publish(Noticed(text=escaped("\n".join((begin, *lines))), tone="dim"))

    # recalling

    async def beside(self, typed: str) -> Sequence[tuple[Content, ...]]:
        """What goes to the model with a message of the person."""
        if len(typed.split()) < recalling.WORDS:
            return ()
        try:
            topics = await asyncio.to_thread(self._topics)
            chosen = await self._chosen(typed, topics) if topics else ()
        except GatewrightError as error:
            log.info("nothing recalled: %s", error)
            return ()
        if not chosen:
            return ()
        self._told |= {topic.name for topic in chosen}
        return ((TextContent(recalling.beside(chosen, self._today())),),)

    def _topics(self) -> Sequence[Topic]:
        """That the model does not have yet."""
        store = self._book.store
        return [each for each in store.topics() if each.facts and each.name not in self._told]

    async def _chosen(self, typed: str, topics: Sequence[Topic]) -> Sequence[Topic]:
        """By a small model, or by words where it has no answer in time."""
        asked = recalling.question(self._host.base.redactor.text(typed), topics)
        try:
            async with asyncio.timeout(recalling.SECONDS):
                answer = await self._asked(
                    recalling.SYSTEM, asked, recalling.OUTPUT, recalling.SECONDS
                )
            found = recalling.chosen(answer, topics)
        except (GatewrightError, TimeoutError) as error:
            log.info("recalled by words: %s", error)
            found = None
        return recalling.by_words(typed, topics) if found is None else found

    async def _asked(self, system: str, text: str, most: int, seconds: float) -> str:
        """Of the small model; an empty answer where there is none. Raises GatewrightError."""
        model = await asyncio.to_thread(self._host.small_model)
        if model.provider.name == NO_MODEL:
            return ""
        try:
            return await short_answer(
                model,
                system,
                text,
                max_output=most,
                seconds=seconds,
                paid=booked(self._host.publish, model, "memory"),
            )
        finally:
            await model.provider.close()
