"""`/sessions`: what runs in the background, as a table; each row can be looked into, answered,
attached and stopped.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path

from gatewright.agent.autonomy.running import ending
from gatewright.agent.autonomy.running.attaching import Visit
from gatewright.agent.autonomy.running.bounded_log import read_back
from gatewright.agent.autonomy.running.known_sessions import SHORT, look
from gatewright.agent.autonomy.running.running_record import Seen
from gatewright.agent.autonomy.running.socket_places import log_file
from gatewright.agent.client.port import SessionClient
from gatewright.agent.commands.outcome import (
    Act,
    Choice,
    Draft,
    Listing,
    Outcome,
    Page,
    Problem,
    Say,
    Switch,
)
from gatewright.agent.commands.registry import Command, CommandContext
from gatewright.agent.commands.tasks import elapsed
from gatewright.agent.errors import GatewrightError, SessionError
from gatewright.tools.blocks import Block, Output, Table, Text

COLUMNS = ("State", "Session", "For", "$", "Where", "About")
NONE = 'Nothing runs in the background. agent bg "PROMPT" begins something, /bg sends this there.'
HINT = "agent attach ID shows one, agent logs ID prints what it says, agent stop ID ends it."
BUSY = "A turn runs here: Esc stops it, /bg lets it go on without the screen; then attach."
HERE = "You are looking at it."
USAGE = "Say which session, and what: /reply ID TEXT."
OVER = "It has ended: it is attached to go on."
NO_MORE = "It is not known any more."
PEEKED = 4000  # characters of what it said last
AGAIN = 0.4  # seconds
CENT = 0.005


class SessionsTable:
    """What a screen does with sessions in the background beside the one it shows."""

    def __init__(self, visit: Visit, shown: SessionClient) -> None:
        self._visit, self._shown = visit, shown
        self._looked = -AGAIN
        self._known: Sequence[Seen] = ()

    def commands(self) -> tuple[Command, ...]:
        return (
            Command(name="sessions", summary="Sessions in the background", run=self._sessions),
            Command(
                name="reply",
                summary="Say something to a session in the background",
                args="ID TEXT",
                run=self._reply,
            ),
        )

    async def _sessions(self, context: CommandContext) -> Outcome:
        del context
        every = self._every()
        if not every:
            return Page.text("Sessions", NONE)
        rows = [each.cells for each in map(_row, every)]
        fallback = Say((Table(COLUMNS, tuple(rows)), Text(HINT, "dim")))
        return Listing(
            fallback=fallback,
            title="Sessions in the background",
            rows=lambda: [_row(each) for each in self._every()],
            read=self._peek,
            acts=(
                Act("a", "attaches", self._attach),
                Act("r", "replies", self._draft),
                Act("X", "stops", self._stop),
            ),
            columns=COLUMNS,
            follows=True,
        )

    def _every(self) -> Sequence[Seen]:
        """Those that need the person first; looked for anew a few times a second at most."""
        now = time.monotonic()
        if now - self._looked >= AGAIN:
            self._looked = now
            found = look(self._visit.home, time.time())
            self._known = sorted(found, key=lambda each: not each.record.ask)
        return self._known

    def _found(self, id: str) -> Seen | None:
        return next((each for each in self._every() if each.record.id == id), None)

    async def _peek(self, id: str) -> Sequence[Block]:
        found = self._found(id)
        if found is None:
            return (Text(NO_MORE, "warning"),)
        said = await asyncio.to_thread(read_back, log_file(self._visit.home, id))
        text = said.decode("utf-8", "replace")
        record = found.record
        asks = (Text(f"It asks: {record.ask}", "warning"),) if record.ask else ()
        head = f"{record.title}\n{record.state}{f': {record.why}' if record.why else ''}"
        shown = text[-PEEKED:]
        return (Text(head), *asks, Output(shown, hidden_lines=text[:-PEEKED].count("\n")))

    async def _attach(self, id: str) -> Outcome:
        if id == self._shown.id:
            return Say.text(HERE, "dim")
        if self._shown.busy and not self._shown.stays:
            return Problem.of(BUSY)
        return Switch(attach=id)

    async def _draft(self, id: str) -> Outcome:
        found = self._found(id)
        if found is None or not found.live:
            return Problem.of(OVER if found is not None else NO_MORE)
        text = f"/reply {id[:SHORT]} "
        return Draft(fallback=Say.text(text), text=text)

    async def _stop(self, id: str) -> Outcome:
        found = self._found(id)
        if found is None:
            return Problem.of(NO_MORE)
        try:
            await asyncio.to_thread(ending.stop, self._visit.home, found.record)
        except GatewrightError as error:
            return Problem.of(str(error))
        return Say.text(f"{id[:SHORT]} has stopped.", "dim")

    async def _reply(self, context: CommandContext) -> Outcome:
        id, _, text = context.args.partition(" ")
        if not id or not text.strip():
            return Problem.of(USAGE)
        to = await asyncio.to_thread(self._visit.find, id)
        if not to.live:
            raise SessionError(OVER)
        joined = await to.open()
        try:
            joined.submit(text.strip())
            await joined.sent()
        finally:
            await joined.close()
        return Say.text(f"Sent to {to.record.title or to.id[:SHORT]}.", "dim")


def _row(found: Seen) -> Choice:
    record = found.record
    since = max(0.0, time.time() - (record.changed if record.ended else record.began))
    cost = f"{record.cost:.2f}" if record.cost >= CENT else ""
    about = f"asks: {record.ask}" if record.ask else record.title
    about = f"{about}: {record.why}" if record.why else about
    where = Path(record.cwd).name
    state = record.state if found.live or record.state == "interrupted" else f"{record.state}, over"
    order = 2.0 if record.ask else float(found.live)
    return Choice(
        id=record.id,
        label=record.title or record.id[:SHORT],
        typed=f"agent attach {record.id[:SHORT]}",
        cells=(state, record.id[:SHORT], elapsed(since), cost, where, about),
        numbers=(order, record.began, since, record.cost, 0.0, 0.0),
    )
