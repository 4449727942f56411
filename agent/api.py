"""Use the agent from Python: `query` for one question, `Client` for a conversation.

The same session, gate and events as on the screen; nothing is simplified away.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from types import TracebackType
from typing import Any, TypeAlias

import msgspec

from gatewright.agent.build import open_session
from gatewright.agent.client.brought import NOTHING, Brought
from gatewright.agent.errors import GatewrightError
from gatewright.agent.frontends.turn import Follower, shape_of, text_of
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.record.events import AnyEvent, Asked, AssistantMessage, TurnEnded
from gatewright.agent.session.session import Session
from gatewright.agent.turn.stop import Stop
from gatewright.tools.interact import Answer, Ask

Consent: TypeAlias = Callable[[Ask], Awaitable[Answer]]

DEFAULT = LaunchOptions()


class Reply(msgspec.Struct, frozen=True):
    """The end of a turn. `data` is the answer as JSON where the options ask for a schema."""

    text: str
    ended: TurnEnded
    data: Any = None

    @property
    def ok(self) -> bool:
        return self.ended.stop is Stop.COMPLETED


class Client:
    """One session: `async with Client(...) as client`.

    `consent` is asked what the gate would ask a person; without it such calls are refused, and the
    model is told so. `brings` are hooks that the client answers itself, and where it holds the text
    of files. Raises GatewrightError on entering when the session cannot be opened.
    """

    def __init__(
        self,
        options: LaunchOptions = DEFAULT,
        *,
        consent: Consent | None = None,
        env: Mapping[str, str] | None = None,
        brings: Brought = NOTHING,
    ) -> None:
        self._options = options
        self._brings = brings
        self._consent = consent
        self._env = os.environ if env is None else env
        self._session: Session | None = None
        self._follower: Follower | None = None

    async def __aenter__(self) -> Client:
        interactive = self._consent is not None
        self._session = await open_session(
            self._options, self._env, interactive=interactive, client=self._brings
        )
        self._follower = Follower(self._session, shape_of(self._options))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.session.close()

    @property
    def session(self) -> Session:
        """The facade behind it: modes, commands, interrupting, every event."""
        if self._session is None:
            raise GatewrightError("Enter the client first: async with Client() as client.")
        return self._session

    async def ask(self, prompt: str) -> AsyncGenerator[AnyEvent]:
        """Send a message and hand out what happens until its turn has ended.

        An error in the callback counts as no consent, and is raised at the end of the turn.
        """
        session, follower = self.session, self._follower
        assert follower is not None
        consents: list[asyncio.Task[None]] = []
        try:
            async with aclosing(follower.turn(prompt)) as envelopes:
                async for envelope in envelopes:
                    if isinstance(envelope.event, Asked):
                        consent = self._settle(session, envelope.event)
                        consents.append(asyncio.create_task(consent))
                    yield envelope.event
            await asyncio.gather(*consents)
        finally:
            session.interrupt()  # whoever stops listening stops the turn; else nothing runs
            for task in consents:
                task.cancel()

    async def answer(self, prompt: str) -> Reply:
        """Send a message and wait for the end of its turn."""
        text, ended = "", None
        async for event in self.ask(prompt):
            match event:
                case AssistantMessage() as message:
                    text = text_of(message) or text
                case TurnEnded() as end:
                    ended = end
                case _:
                    pass
        if ended is None:
            raise GatewrightError("The turn crashed.")
        shape = shape_of(self._options)
        if shape is None or ended.stop is not Stop.COMPLETED or shape.problem(text):
            return Reply(text, ended)
        return Reply(text, ended, shape.value(text))

    async def _settle(self, session: Session, asked: Asked) -> None:
        answer = Answer(cancelled=True)
        try:
            if self._consent is not None and asked.ask.kind != "trust":
                answer = _checked(asked.ask, await self._consent(asked.ask))
        finally:
            session.answer(asked.id, answer)


def _checked(ask: Ask, answer: object) -> Answer:
    """What the callback returned. Raises what tells its author what is wrong with it."""
    if not isinstance(answer, Answer):
        raise TypeError(f"consent returns an Answer, not {answer!r:.60}: Answer.of(option.id).")
    ids = [option.id for option in ask.options]
    if unknown := [choice for choice in answer.choices if choice not in ids]:
        raise ValueError(f"There is no option {unknown[0]!r:.60}; there are {', '.join(ids)}.")
    return answer


async def query(
    prompt: str,
    options: LaunchOptions = DEFAULT,
    *,
    consent: Consent | None = None,
    env: Mapping[str, str] | None = None,
) -> AsyncGenerator[AnyEvent]:
    """Ask one question in a session of its own and hand out its events."""
    async with (
        Client(options, consent=consent, env=env) as client,
        aclosing(client.ask(prompt)) as events,
    ):
        async for event in events:
            yield event
