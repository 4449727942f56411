"""Whether a person's words or nobody's are worked on, and how far work that nobody typed may go.

From the first input that nobody typed until the person's next one the session works alone: capped
in its mode, its questions wait no longer than settings say, and each limit ends it with a notice.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol

import msgspec

from gatewright.agent.record.events import (
    Answered,
    AnyEvent,
    Asked,
    Decided,
    Envelope,
    Noticed,
    TurnEnded,
    TurnStarted,
    UsageChanged,
    UserMessage,
)
from gatewright.agent.session.inbox import NOBODYS
from gatewright.agent.settings.groups.autonomy_settings import Autonomy
from gatewright.agent.text.money import dollars
from gatewright.tools.access import MAIN
from gatewright.tools.interact import Answer

REFUSED = 5  # calls in a row
HOUR, DAY = 3600.0, 86400.0
AGAIN = "/autonomy resume lets it go on."


class Handle(Protocol):
    def cancel(self) -> object: ...


class UnattendedPorts(msgspec.Struct, frozen=True, kw_only=True):
    settings: Callable[[], Autonomy]
    time: Callable[[], float]
    later: Callable[[float, Callable[[], object]], Handle]
    publish: Callable[[AnyEvent], object]
    cap: Callable[[str | None], object]  # with the mode its starter named; None: no more
    answer: Callable[[int, Answer], object]
    interrupt: Callable[[], object]


class Unattended:
    """A fold over all events of a session. `may` is asked before anything begins by itself."""

    def __init__(self, ports: UnattendedPorts) -> None:
        self._ports = ports
        self.alone = False
        self.paused = ""  # why, until the person says otherwise
        self.modes: dict[str, str] = {}  # by the input that waits: the mode its starter named
        self._typed = False  # the person wrote something of this turn
        self._over = False  # the turn is being ended for what it costs
        self._last_typed = ports.time()
        self._turns: deque[float] = deque(maxlen=10_000)
        self._paid: deque[tuple[float, float]] = deque(maxlen=10_000)
        self._cost = 0.0  # of the session so far
        self._before = 0.0  # the same when the turn began
        self._refused = 0
        self._asks: dict[int, Handle | None] = {}  # with who ends the wait, where it ends
        self._seen = True
        self._told = ""

    def may(self) -> str:
        """Why nothing may begin by itself now; empty where it may."""
        limits, now = self._ports.settings(), self._ports.time()
        why = self.paused
        if not limits.enabled:
            why = "Settings turn autonomy off."
        elif not why and self.turns() >= limits.max_turns_per_hour:
            why = f"Its turns have reached their limit of {limits.max_turns_per_hour} an hour."
        elif not why and self.spent() >= limits.max_budget_usd_per_day:
            why = f"{dollars(limits.max_budget_usd_per_day)} of a day are spent."
        elif not why and now - self._last_typed >= limits.max_hours * HOUR:
            why = f"Nobody has typed anything for {limits.max_hours:g} hours."
        if why and why != self._told:
            self._tell(f"Nothing begins by itself: {why}")
        self._told = why
        return why

    def turns(self) -> int:
        """That began by themselves within an hour."""
        while self._turns and self._ports.time() - self._turns[0] >= HOUR:
            self._turns.popleft()
        return len(self._turns)

    def spent(self) -> float:
        """Dollars of such turns within a day."""
        while self._paid and self._ports.time() - self._paid[0][0] >= DAY:
            self._paid.popleft()
        return sum(cost for _, cost in self._paid)

    def pause(self, why: str) -> None:
        self.paused = self._told = why
        self._tell(f"The session does nothing by itself any more: {why} {AGAIN}")

    def resume(self) -> None:
        self.paused = self._told = ""
        self._refused = 0
        self._last_typed = self._ports.time()

    def begins(self, named: str) -> None:
        """Work that nobody typed, in the mode that its starter named."""
        self.alone = True
        self._ports.cap(named)

    def saw(self, envelope: Envelope) -> None:
        event = envelope.event
        match event:
            case Asked(id=id):
                self._asked(id)
            case Answered(id=id):
                self._end_wait(id)
                self._asks.pop(id, None)
            case Decided() if self.alone:
                self._decided(event)
            case _ if envelope.agent == MAIN:
                self._of_main(event)
            case _:
                pass

    def looked_at(self, *, seen: bool) -> None:
        """Whether a front end shows the session: where none does, nobody is there to be asked."""
        self._seen = seen
        for id in self._asks:
            if self.alone or not seen:
                self._begin_wait(id)
            else:
                self._end_wait(id)

    def close(self) -> None:
        for id in self._asks:
            self._end_wait(id)

    def _of_main(self, event: AnyEvent) -> None:
        match event:
            case UserMessage(source="", hidden=False):
                self._typed = True
                self.was_typed()
            case UserMessage(source=source, input_id=id) if source in NOBODYS:
                named = self.modes.pop(id, "")
                if not self._typed:
                    self.begins(named)
            case TurnStarted():
                self._before = self._cost
                if self.alone:
                    self._turns.append(self._ports.time())
            case UsageChanged(cost=cost):
                self._cost = cost
                self._overspent()
            case TurnEnded():
                if self.alone and self._cost > self._before:
                    self._paid.append((self._ports.time(), self._cost - self._before))
                self._typed, self._over, self._before = False, False, self._cost
            case _:
                pass

    def was_typed(self) -> None:
        """The person is there: what comes now is theirs, until something begins by itself."""
        self.alone, self._refused = False, 0
        self._last_typed = self._ports.time()
        self._ports.cap(None)
        self.looked_at(seen=self._seen)

    def _overspent(self) -> None:
        """A turn of its own that goes beyond the day's budget ends there."""
        most = self._ports.settings().max_budget_usd_per_day
        now = self._cost - self._before
        if self.alone and now > 0 and self.spent() + now > most and not self._over:
            self._over = True
            self._tell(
                f"The turn ends here: {dollars(most)} of a day are spent by work of its own."
            )
            self._ports.interrupt()

    def _decided(self, event: Decided) -> None:
        self._refused = self._refused + 1 if event.behavior == "deny" else 0
        if self._refused >= REFUSED and not self.paused:
            self.pause(f"{REFUSED} calls in a row were refused.")
            self._ports.interrupt()

    def _asked(self, id: int) -> None:
        self._asks[id] = None
        if self.alone or not self._seen:
            self._begin_wait(id)

    def _begin_wait(self, id: int) -> None:
        wait = self._ports.settings().ask_wait
        if isinstance(wait, str) or self._asks[id] is not None:
            return
        minutes = f"{wait:g} min" if wait else "no time"
        self._asks[id] = self._ports.later(wait * 60, lambda: self._nobody_came(id, minutes))

    def _end_wait(self, id: int) -> None:
        if (waiting := self._asks.get(id)) is not None:
            waiting.cancel()
            self._asks[id] = None

    def _nobody_came(self, id: int, waited: str) -> None:
        if id in self._asks:
            del self._asks[id]
            self._tell(f"A question waited {waited} for an answer: the call was refused.")
            self._ports.answer(id, Answer(cancelled=True))

    def _tell(self, text: str) -> None:
        self._ports.publish(Noticed(text=text, tone="warning"))
