"""How hooks ask models: a question to a small one, or an agent that looks before it answers."""

from __future__ import annotations

import asyncio
import itertools

from gatewright.agent.commands.outcome import Scope
from gatewright.agent.errors import FailureKind, ProviderError
from gatewright.agent.extensions.host import Host
from gatewright.agent.hooks.kinds.judging_model import Question
from gatewright.agent.models.model import OpenModel
from gatewright.agent.models.short_answer import booked, short_answer
from gatewright.agent.session.children import AgentSpec
from gatewright.agent.turn.limits import Limits
from gatewright.agent.turn.stop import Stop

MOST = 1_000  # tokens of an answer
REQUESTS = 50  # of an agent that looks first
READING = ("Bash", "Glob", "Grep", "Read")  # what it is offered, and may call


class Ways:
    """What is used here is booked to the session, as that of hooks."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._numbers = itertools.count(1)
        self._judges: set[str] = set()

    def judging(self, agent: str) -> bool:
        """Whether that agent works for a hook."""
        return agent in self._judges

    async def asks(self, asked: Question) -> str:
        """The text of one answer. Raises GatewrightError."""
        opened = await self._opened(asked.model)
        try:
            return await short_answer(
                opened,
                asked.system,
                asked.text,
                max_output=MOST,
                seconds=asked.seconds,
                paid=booked(self._host.publish, opened, "hooks"),
            )
        except TimeoutError:
            raise _late(asked) from None
        finally:
            await opened.provider.close()

    async def looks(self, asked: Question) -> str:
        """The last words of an agent that looks at files first. Raises GatewrightError."""
        host = self._host
        opened = await self._opened(asked.model)
        tools = tuple(spec for spec in host.tools.specs() if spec.name in READING)
        spec = AgentSpec(
            name=f"hook{next(self._numbers)}",
            kind="hook",
            prompt=asked.text,
            parent=asked.agent,
            model=lambda: opened.briefed((asked.system,), tools),
            limits=Limits(requests=REQUESTS),
            mode="dontAsk",
            scope=Scope(by="a hook", only=READING),
        )
        self._judges.add(path := f"{spec.parent}/{spec.name}")
        run = host.session.spawn(spec)
        try:
            async with asyncio.timeout(asked.seconds):
                stop = await run.idle()
        except TimeoutError:
            raise _late(asked) from None
        finally:
            await run.close()
            self._judges.discard(path)
        if stop is not Stop.COMPLETED:
            raise ProviderError(FailureKind.REFUSED, f"its agent came to no end: {stop}")
        return run.report

    async def _opened(self, model: str) -> OpenModel:
        if model:
            return await asyncio.to_thread(self._host.open_model, model, "")
        return await asyncio.to_thread(self._host.small_model)


def _late(asked: Question) -> ProviderError:
    text = f"The model did not answer within {asked.seconds:g} s."
    return ProviderError(FailureKind.TRANSPORT, text)
