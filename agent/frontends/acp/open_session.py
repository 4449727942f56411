"""One session that a client has open: what happens goes out, what it asks for comes in."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from gatewright.agent.frontends.acp.acp_consent import Consent, Put
from gatewright.agent.frontends.acp.jsonrpc import Peer
from gatewright.agent.frontends.acp.offered_options import Options
from gatewright.agent.frontends.acp.pacing import Paced
from gatewright.agent.frontends.acp.prompts import Prompts
from gatewright.agent.frontends.acp.updates import BELOW, Updates, chunk, joined
from gatewright.agent.frontends.acp.whole_texts import TextOf, WholeTexts, on_disk
from gatewright.agent.frontends.turn import from_start
from gatewright.agent.record.events import (
    Answered,
    Asked,
    EffortChanged,
    Envelope,
    InputRefused,
    ModeChanged,
    ModelChanged,
    TextDelta,
    ToolStarted,
    TurnEnded,
    UserMessage,
)
from gatewright.agent.session.session import Session
from gatewright.agent.turn.stop import Stop
from gatewright.tools.access import MAIN, Where
from gatewright.tools.system.untyped_json import Json

ABORTED = (Stop.ABORTED_STREAMING, Stop.ABORTED_TOOLS)
LATE = 30.0  # seconds without an answer after which the call says that it waits
WAITS = "{} · waits for your answer"
CLOSES = 8.0  # seconds for a session to end
UNTRUSTED = (
    "This project's own settings are ignored because it is not trusted. "
    "`agent trust add` in its directory lets them count from then on."
)


class OpenSession:
    """`auth` says how a model can be had, where there is none."""

    def __init__(
        self,
        session: Session,
        peer: Peer,
        consent: Consent,
        auth: Callable[[], Sequence[Json]],
        text_of: TextOf = on_disk,
    ) -> None:
        self.session = session
        self.options = Options(session)
        self.prompts = Prompts(session, self.say, auth)
        self._peer, self._consent = peer, consent
        self._texts = WholeTexts(lambda: self.where, text_of)
        self._updates = Updates(self._texts, elsewhere=self._elsewhere)
        self._paced = Paced(self._send)
        self._asked: dict[int, asyncio.Task[None]] = {}
        self._inputs: dict[str, Json] = {}  # of calls that run, by our id
        self._late_calls: set[str] = set()
        self._listed = -1
        self._subscription = session.subscribe(below=BELOW)
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def where(self) -> Where:
        agent = self.session.agent(MAIN)
        return agent.where if agent is not None else Where(Path(), Path(), Path())

    def _elsewhere(self, agent: str) -> bool:
        living = self.session.agent(agent)
        return living is not None and living.where.root != self.where.root

    async def begin(self, *, replay: bool) -> None:
        """Tell what was said before where that is wanted; from then on what happens."""
        await asyncio.sleep(0)  # what is asked at the beginning stands before what happens
        backlog = self._subscription.waiting()
        fresh = from_start(backlog)
        past = backlog[: len(backlog) - len(fresh)]
        if replay:
            await self.replay(past)
        for envelope in past:
            list(self._updates.of(envelope))  # ids that were given stay given
        list(self._updates.left_open())
        await self.options.look()
        self._saw(fresh)
        self._start(self._follow(), "what happens in a session")
        self._start(self._look_at_models(), "models for a client")
        asyncio.get_running_loop().call_soon(self._tell_commands)  # once the request is answered

    async def replay(self, backlog: Sequence[Envelope] | None = None) -> None:
        """The branch as far as it is kept; asked for again, it is told again."""
        fresh: Sequence[Envelope] = ()
        if backlog is None:
            subscription = self.session.subscribe()
            backlog = subscription.waiting()
            subscription.close()
            fresh = from_start(list(backlog))
        past = backlog[: len(backlog) - len(fresh)]
        await asyncio.to_thread(self._texts.remember, backlog)
        told = Updates(self._texts, replays=True)
        updates = [update for envelope in past for update in told.of(envelope)]
        updates += told.left_open()
        updates += [update for envelope in fresh for update in told.of(envelope)]
        for update in joined(updates):
            self._send(update)

    def say(self, text: str) -> None:
        self._paced.add(chunk("agent_message_chunk", text))
        self._paced.flush()

    def say_of_file(self, real: Path, text: str) -> None:
        """With the result of the call that is about it."""
        self._updates.note(str(real), text)

    def show_terminal(self, agent: str, call: str, terminal: str) -> None:
        """On the card of the call whose command runs in it."""
        for update in self._updates.in_terminal(agent, call, terminal):
            self._paced.add(update)

    def configured(self) -> Json:
        return {"modes": self.options.modes, "configOptions": self.options.told()}

    def tell_options(self) -> None:
        self._send({"sessionUpdate": "config_option_update", "configOptions": self.options.told()})

    async def close(self) -> None:
        """The turn and its jobs end; the files stay."""
        for task in (*self._asked.values(), *self._tasks):
            task.cancel()
        await self.prompts.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSES):
                await self.session.close()
        self._subscription.close()

    # what happens

    async def _follow(self) -> None:
        while batch := await self._subscription.batch():
            self._saw(batch)

    def _saw(self, batch: Sequence[Envelope]) -> None:
        for envelope in batch:
            if isinstance(envelope.event, TextDelta) and envelope.agent == MAIN:
                self._updates.streamed(envelope.event.text)
                self._paced.text("agent_message_chunk", envelope.event.text)
            else:
                self._one(envelope)
        if self.session.commands.revision != self._listed and self._listed >= 0:
            self._tell_commands()

    def _one(self, envelope: Envelope) -> None:
        event = envelope.event
        for update in self._updates.of(envelope):
            self._paced.add(update)
        match event:
            case Asked():
                task = asyncio.create_task(self._ask(event, envelope.agent), name="a question")
                self._asked[event.id] = task
            case Answered(id=id):
                if (asking := self._asked.pop(id, None)) is not None:
                    asking.cancel()
            case ToolStarted(call_id=id, input=input):
                self._inputs[self._updates.id_of(envelope.agent, id)] = input
            case ModeChanged() | ModelChanged() | EffortChanged():
                self._start(self._options_changed(), "options that changed")
            case TurnEnded() if envelope.agent == MAIN:
                self._ended(event)
            case UserMessage() | InputRefused() if envelope.agent == MAIN:
                self.prompts.saw(event)
            case _:
                pass

    def _ended(self, turn: TurnEnded) -> None:
        self._inputs.clear()
        if turn.message and turn.stop not in ABORTED:
            self._paced.add(chunk("agent_message_chunk", f"\n\n{turn.message}\n"))
        self._paced.flush()
        self.prompts.saw(turn)

    async def _ask(self, asked: Asked, agent: str) -> None:
        ask = asked.ask
        call = self._updates.id_of(agent, ask.call_id) or f"ask-{asked.id}"
        raw = ask.rewritten if ask.rewritten is not None else self._inputs.get(call)
        self._paced.flush()
        late = asyncio.get_running_loop().call_later(LATE, self._late, call)
        try:
            foreseen, name = self._updates.foreseen(agent), self._updates.name_of(agent)
            put = Put(self.session.id, call, foreseen, name, raw)
            answer = await self._consent.answer(ask, put)
        finally:
            late.cancel()
            self._unlate(call)
        if ask.kind == "trust" and answer.cancelled:
            self.say(f"> {UNTRUSTED}\n\n")
        self._asked.pop(asked.id, None)  # so that its own end does not end this
        self.session.answer(asked.id, answer)

    def _late(self, call: str) -> None:
        if title := self._updates.title_of(call):
            self._late_calls.add(call)
            self._retitle(call, WAITS.format(title))

    def _unlate(self, call: str) -> None:
        late, title = call in self._late_calls, self._updates.title_of(call)
        self._late_calls.discard(call)
        if late and title:
            self._retitle(call, title)

    def _retitle(self, call: str, title: str) -> None:
        self._send({"sessionUpdate": "tool_call_update", "toolCallId": call, "title": title})

    async def _options_changed(self) -> None:
        await self.options.look()
        self.tell_options()

    async def _look_at_models(self) -> None:
        if await self.options.look_at_models():
            self.tell_options()

    def _tell_commands(self) -> None:
        self._listed = self.session.commands.revision
        commands = [
            {
                "name": command.name,
                "description": command.summary,
                **({"input": {"hint": command.args}} if command.args else {}),
            }
            for command in self.session.commands
            if not command.screen
        ]
        self._send({"sessionUpdate": "available_commands_update", "availableCommands": commands})

    def _send(self, update: Json) -> None:
        self._peer.notify("session/update", {"sessionId": self.session.id, "update": update})

    def _start(self, work: Coroutine[Any, Any, None], name: str) -> None:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
