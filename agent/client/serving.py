"""The session's end of a line to one client that shows it: events, facts, and what is asked of it.

What is asked at once is done in its order; what may last is a task of its own. Questions are events
like others, and wait for whoever answers them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, TypeAlias, TypeVar, assert_never, cast

import msgspec

from gatewright.agent.client.open_offers import GONE, OpenOffers
from gatewright.agent.client.open_panels import called, led_to
from gatewright.agent.client.port import SessionClient, Taken
from gatewright.agent.client.session_lines import (
    PREFIX,
    VERSION,
    AnyRequest,
    ApplyChange,
    AtOnce,
    CallPanel,
    Choose,
    CommandsChanged,
    CycleMode,
    Ending,
    Facts,
    FactsChanged,
    Follow,
    GiveAnswer,
    GoBack,
    Hello,
    Interrupt,
    KeepSetting,
    Lasting,
    Later,
    Listed,
    ListRows,
    Mentions,
    Opened,
    ReadRow,
    Remember,
    ResumeAgent,
    RunCommand,
    SendMessage,
    StopAgent,
    Take,
    TakeBack,
    ToBackground,
    Typing,
    Unwatch,
    Watch,
    WeighRules,
    encoded,
    event_line,
)
from gatewright.agent.client.watches import Watches
from gatewright.agent.commands.outcome import Change, Listing, Outcome, Pick
from gatewright.agent.commands.panels import LivePanel
from gatewright.agent.commands.registry import LINES, Front
from gatewright.agent.errors import GatewrightError, SessionError
from gatewright.agent.frontends.json_lines import Sink
from gatewright.agent.record.events import Envelope, Moved, TurnStarted, UsageChanged
from gatewright.agent.text.printable import visible
from gatewright.agent.version import VERSION as APP

MOST = 64  # requests that are being done
NAMED = 60  # characters of who looks
STATING = (Moved, TurnStarted, UsageChanged)  # passing events that change the facts
BUSY = f"{MOST} requests are still being done. Wait for one of them."
DEFECT = "It failed where the session runs: a defect. agent --debug writes a log there."
Body: TypeAlias = dict[str, Any]
T = TypeVar("T")

log = logging.getLogger(__name__)


class Served:
    """`out` takes its lines."""

    def __init__(self, session: SessionClient, out: Sink) -> None:
        self._session = session
        self._out = out
        self._offers = OpenOffers()
        self._events = session.subscribe()
        self._following = False
        self._viewer = ""
        self._watches = Watches(session.id, out)
        self._facts = Facts.of(session)
        self._listed = session.commands.revision
        self._doing: set[asyncio.Task[Body]] = set()
        self._watching = asyncio.create_task(self._watch(), name="a client's events")
        self._resting: asyncio.Task[None] | None = None
        out.write(encoded(Hello(version=VERSION, app=APP, facts=self._facts, commands=self._all())))

    def knows(self, subtype: object) -> bool:
        """Whether a control request of this name is asked of the session itself."""
        return isinstance(subtype, str) and subtype.startswith(PREFIX)

    def take(self, id: str, body: object) -> None:
        """Do what the client asks, or refuse it with a sentence."""
        try:
            wanted = msgspec.convert(body, cast("type[AnyRequest]", AnyRequest))
        except msgspec.ValidationError as error:
            self._refuse(id, f"This is not understood here (version {VERSION}): {error}")
            return
        if not isinstance(wanted, Lasting):
            done = self._at_once(wanted)
            self._flush()
            self._reply(id, done)
        elif len(self._doing) >= MOST:
            self._refuse(id, BUSY)
        else:
            task = asyncio.create_task(self._later(wanted), name="what a client asked for")
            self._doing.add(task)
            task.add_done_callback(partial(self._done, id))

    def ending(self, why: str) -> None:
        """The session is about to end; told before its line ends."""
        self._flush()
        self._out.write(encoded(Ending(why)))

    async def close(self) -> None:
        """What happened last is still told."""
        self._flush()
        await self._watches.end()
        ending: list[asyncio.Future[Any]] = [self._watching, *self._doing]
        if self._resting is not None:
            ending.append(self._resting)
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)
        self._events.close()

    # what is told

    async def _watch(self) -> None:
        shown = None
        while shown is not self._events:  # from another number on, there is another one
            shown = self._events
            while batch := await shown.batch():
                self._tell(batch)

    def _flush(self) -> None:
        self._tell(self._events.waiting())
        self._state()

    def _tell(self, batch: Sequence[Envelope]) -> None:
        stating = False
        for envelope in batch:
            event = envelope.event
            stating = stating or event.durable or isinstance(event, STATING)
            if self._following:
                self._out.write(event_line(envelope, self._session.id))
        if stating:
            self._state()

    def _state(self) -> None:
        """Tell what is another fact than before."""
        session = self._session
        if (facts := Facts.of(session)) != self._facts:
            self._facts = facts
            self._out.write(encoded(FactsChanged(facts)))
        if session.commands.revision != self._listed:
            self._listed = session.commands.revision
            self._out.write(encoded(CommandsChanged(self._all())))
        if facts.busy and (self._resting is None or self._resting.done()):
            self._resting = asyncio.create_task(self._rest(), name="until nothing runs")

    async def _rest(self) -> None:
        """That nothing runs any more is no event."""
        await self._session.idle()
        self._flush()

    def _all(self) -> tuple[Listed, ...]:
        return tuple(Listed.of(command) for command in self._session.commands)

    # what is asked for

    def _at_once(self, wanted: AtOnce) -> Body:
        session = self._session
        match wanted:
            case Follow(since=since, viewer=viewer):
                self._follow(since, viewer)
            case SendMessage(text=text, attachments=more, typed=typed, id=id, agent=agent):
                sent = session.submit(text, more, typed=typed, id=id, agent=agent)
                return {"id": sent}
            case GiveAnswer(ask=ask, answer=answer):
                return {"answered": session.answer(ask, answer, by=self._viewer)}
            case Interrupt():
                return {"interrupted": session.interrupt()}
            case Typing():
                session.typing()
            case TakeBack():
                taken: list[Taken] = []
                session.take_back(taken.extend)
                return {"taken": taken}
            case ToBackground():
                return {"count": session.to_background()}
            case CycleMode():
                return {"mode": session.cycle_mode()}
            case Unwatch(watch=watch):
                self._watches.close(watch)
            case _:
                assert_never(wanted)
        return {}

    def _follow(self, since: int, viewer: str) -> None:
        self._tell(self._events.waiting())
        self._viewer = visible(viewer)[:NAMED]
        before, self._events = self._events, self._session.subscribe(since=since, streamed=True)
        self._following = True
        before.close()

    async def _later(self, wanted: Later) -> Body:  # noqa: C901  one kind each
        """Raises GatewrightError."""
        match wanted:
            case Opened():
                await self._session.opened()
                return {}
            case Mentions(begun=begun):
                return {"found": list(await self._session.mentions(begun))}
            case WeighRules(ask=ask, rules=rules):
                return {"found": await self._session.weigh(ask, rules)}
            case ListRows(offer=offer):
                return {"found": list(self._offers.find(offer, Listing).rows())}
            case ReadRow(offer=offer, row=row, look=look):
                return {"found": list(await self._reads(offer, row, look)(row))}
            case CallPanel(offer=offer, call=call, args=args):
                panel = self._offers.find(offer, LivePanel)
                led = await led_to(panel, call, args)
                if led is None:
                    return {"found": await called(panel, call, args)}
                done = await self._session.apply(led, LINES)
            case Watch(agent=agent, watch=watch):
                self._watches.begin(watch, await self._session.watch(agent))
                return {}
            case StopAgent(agent=agent):
                done = await self._session.stop_agent(agent)
            case ResumeAgent(agent=agent):
                done = await self._session.resume_agent(agent)
            case RunCommand(line=line, switches=switches, panels=panels):
                front = Front(switches=switches, panels=panels)
                self._offers.panels = panels
                done = await self._session.run_command(line, front)
            case _:
                done = await self._session.apply(await self._led_to(wanted), LINES)
        return {"found": self._offers.line(done)}

    async def _led_to(
        self, wanted: ApplyChange | KeepSetting | Remember | Choose | GoBack | Take
    ) -> Outcome:
        match wanted:
            case ApplyChange():
                return Change(wanted.operation)
            case KeepSetting(key=key, value=value):
                return await self._session.keep_setting(key, value)
            case Remember(line=line):
                return await self._session.remember(line)
            case Choose(act=""):
                return await self._chosen(wanted)
            case Choose(offer=offer, row=row, act=key):
                acts = self._listing(offer, row).acts
                run = next((act.run for act in acts if act.key == key), None)
                return await _there(run)(row)
            case GoBack(offer=offer):
                return await _there(self._offers.find(offer, Pick).back)()
            case Take(offer=offer, text=text):
                return await self._offers.taker(offer)(text)

    async def _chosen(self, wanted: Choose) -> Outcome:
        pick = self._offers.find(wanted.offer, Pick)
        if all(choice.id != wanted.row for choice in pick.choices):
            raise SessionError(GONE)
        return await pick.choose(wanted.row)

    def _reads(self, offer: int, row: str, look: str) -> Callable[[str], Awaitable[Any]]:
        listing = self._listing(offer, row)
        if not look:
            return listing.read
        return _there(next((one.read for one in listing.looks if one.key == look), None))

    def _listing(self, offer: int, row: str) -> Listing:
        """Raises SessionError where it has no such row."""
        listing = self._offers.find(offer, Listing)
        if all(choice.id != row for choice in listing.rows()):
            raise SessionError(GONE)
        return listing

    def _reply(self, id: str, body: Body) -> None:
        self._respond({"subtype": "success", "request_id": id, "response": body})

    def _refuse(self, id: str, error: str) -> None:
        self._respond({"subtype": "error", "request_id": id, "error": error})

    def _respond(self, response: Body) -> None:
        self._out.write(encoded({"type": "control_response", "response": response}))

    def _done(self, id: str, task: asyncio.Task[Body]) -> None:
        self._doing.discard(task)
        if task.cancelled():
            return
        self._flush()
        match task.exception():
            case None:
                self._reply(id, task.result())
            case GatewrightError() as error:
                self._refuse(id, str(error))
            case defect:
                log.error("a request of a client failed", exc_info=defect)
                self._refuse(id, DEFECT)


def _there(found: T | None) -> T:
    """Raises SessionError where there is no such thing."""
    if found is None:
        raise SessionError(GONE)
    return found
