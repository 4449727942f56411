"""What was typed gets its turn and its end, whatever happens on the way there."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TypeVar

import pytest

from gatewright.agent.errors import SessionError
from gatewright.agent.models.in_use import Models
from gatewright.agent.models.model import OpenModel
from gatewright.agent.record.events import (
    AnyEvent,
    InputRefused,
    Noticed,
    QueueChanged,
    TurnEnded,
    TurnStarted,
    UserMessage,
)
from gatewright.agent.session.inbox import Input, Priority
from gatewright.agent.session.runner import Runner, RunnerPorts
from gatewright.agent.turn.loop import DEFECT
from gatewright.agent.turn.stop import Stop
from gatewright.tools.protocol import Content, TextContent
from tests.fakes.house import house, open_scripted
from tests.fakes.recorder import Recorder
from tests.fakes.scripted_provider import ScriptedProvider
from tests.fakes.waiting import PATIENCE

S = TypeVar("S", bound="Scene")
MODEL = open_scripted(ScriptedProvider.parse(""), "script", "")


class Scene:
    """A runner whose surroundings a test makes fail, wait or speak."""

    def __init__(self) -> None:
        self.events: list[AnyEvent] = []
        self.turns = 0
        self.gate = asyncio.Event()
        self.reached = asyncio.Event()
        self.runner = Runner(
            RunnerPorts(
                publish=self.events.append,
                arrived=self.arrived,
                brought=self.brought,
                ready=self.ready,
                opening=self.opening,
                taken=lambda _item: None,
            )
        )

    async def arrived(self, item: Input) -> InputRefused | None:
        return InputRefused("refused", "Not today.") if item.text == "refused" else None

    async def brought(self, item: Input) -> Sequence[tuple[Content, ...]]:
        del item
        return ()

    async def model(self) -> OpenModel:
        return MODEL

    async def ready(self) -> Callable[[], Awaitable[None]]:
        return partial(self.turn, await self.model())

    async def opening(self) -> None:
        return

    async def turn(self, model: OpenModel) -> None:
        del model
        self.turns += 1
        self.events.append(TurnStarted())
        self.events.append(TurnEnded(stop=Stop.COMPLETED))

    async def held(self) -> None:
        self.reached.set()
        await self.gate.wait()

    def ends(self) -> list[tuple[Stop, str]]:
        """Every end, after a look that each has its beginning."""
        starts = sum(isinstance(event, TurnStarted) for event in self.events)
        ends = [event for event in self.events if isinstance(event, TurnEnded)]
        assert starts == len(ends)
        return [(event.stop, event.message) for event in ends]

    def said(self) -> list[str]:
        return [
            part.text
            for event in self.events
            if isinstance(event, UserMessage)
            for part in event.content
            if isinstance(part, TextContent)
        ]

    async def idle(self) -> None:
        await asyncio.wait_for(self.runner.idle(), PATIENCE)


def typed(text: str) -> Input:
    return Input(text, (TextContent(text),))


def notice(text: str, *, wakes: bool) -> Input:
    return Input(text, (TextContent(text),), Priority.LATER, hidden=True, wakes=wakes)


@asynccontextmanager
async def scene() -> AsyncGenerator[Scene]:
    async with closing(Scene()) as made:
        yield made


@asynccontextmanager
async def closing(made: S) -> AsyncGenerator[S]:
    try:
        yield made
    finally:
        await made.runner.close()


async def test_what_is_taken_back_at_once_leaves_the_session_idle() -> None:
    async with scene() as made:
        await asyncio.sleep(0)  # the runner waits now
        made.runner.put(typed("never mind"))
        assert made.runner.busy
        assert [item.text for item in made.runner.take_back()] == ["never mind"]
        await made.idle()
        assert made.turns == 0
        made.runner.put(typed("go"))
        await made.idle()
        assert made.turns == 1


async def test_what_is_taken_back_while_the_past_is_worked_on_starts_no_turn() -> None:
    async with scene() as made:
        work = asyncio.create_task(made.runner.alone(made.held))
        await made.reached.wait()
        made.runner.put(typed("later"))
        await asyncio.sleep(0)
        assert [item.text for item in made.runner.take_back()] == ["later"]
        await asyncio.sleep(0)
        assert made.runner.busy
        made.gate.set()
        await work
        await made.idle()
        assert made.turns == 0
        assert [e.texts for e in made.events if isinstance(e, QueueChanged)] == [("later",), ()]


class SlowModel(Scene):
    async def model(self) -> OpenModel:
        await self.held()
        return MODEL


async def test_an_interrupt_while_the_model_is_opened_ends_the_turn() -> None:
    async with closing(SlowModel()) as made:
        made.runner.put(typed("go"))
        await made.reached.wait()
        assert made.runner.interrupt()
        await made.idle()
        assert made.ends() == [(Stop.ABORTED_STREAMING, "Interrupted.")]
        assert made.said() == ["go"]
        assert made.turns == 0


class SlowFiles(Scene):
    async def arrived(self, item: Input) -> InputRefused | None:
        return InputRefused("refused", "Not today.") if item.text == "refused" else None

    async def brought(self, item: Input) -> Sequence[tuple[Content, ...]]:
        await self.held()
        return ()


async def test_an_interrupt_while_files_are_attached_loses_no_input() -> None:
    async with closing(SlowFiles()) as made:
        made.runner.put(typed("one"))
        made.runner.put(typed("two"))
        await made.reached.wait()
        assert made.runner.interrupt()
        await made.idle()
        assert made.ends() == [(Stop.ABORTED_STREAMING, "Interrupted.")]
        assert made.said() == ["one", "two"]


async def test_an_interrupt_before_the_first_step_of_a_turn_counts() -> None:
    async with scene() as made:
        made.runner.put(typed("go"))
        for _ in range(10):
            if made.runner.interrupt():
                break
            await asyncio.sleep(0)
        await made.idle()
        assert made.ends() == [(Stop.ABORTED_STREAMING, "Interrupted.")]
        assert made.said() == ["go"]
        assert made.turns == 0


class Defects(Scene):
    """Everything on the way to the first turn has a defect, one after the other."""

    def __init__(self) -> None:
        self.sound = 0
        super().__init__()

    async def opening(self) -> None:
        raise RuntimeError("opening")

    async def arrived(self, item: Input) -> InputRefused | None:
        return InputRefused("refused", "Not today.") if item.text == "refused" else None

    async def brought(self, item: Input) -> Sequence[tuple[Content, ...]]:
        if self.sound < 1:
            raise RuntimeError("brought")
        return ()

    async def model(self) -> OpenModel:
        if self.sound < 2:
            raise RuntimeError("model")
        return MODEL

    async def turn(self, model: OpenModel) -> None:
        await super().turn(model)
        if self.sound < 3:
            raise RuntimeError("turn")


async def test_no_defect_ends_the_runner() -> None:
    async with closing(Defects()) as made:
        for step in range(4):
            made.sound = step
            made.runner.put(typed(str(step)))
            await made.idle()
        assert made.ends() == [
            (Stop.MODEL_ERROR, DEFECT),
            (Stop.MODEL_ERROR, DEFECT),
            (Stop.COMPLETED, ""),
            (Stop.COMPLETED, ""),
        ]
        assert made.said() == ["0", "1", "2", "3"]
        assert [e.text for e in made.events if isinstance(e, Noticed)] == [DEFECT]


class Noticing(Scene):
    """A turn that brings a notice for the model as it ends."""

    async def turn(self, model: OpenModel) -> None:
        await super().turn(model)
        self.runner.put(notice("instructions further down", wakes=False))


async def test_a_notice_of_a_turn_that_ended_waits_for_the_next_input() -> None:
    async with closing(Noticing()) as made:
        made.runner.put(typed("go"))
        await made.idle()
        assert made.turns == 1
        made.runner.put(typed("and now"))
        await made.idle()
        assert made.turns == 2
        assert made.said() == ["go", "and now", "instructions further down"]


async def test_news_of_background_work_wakes() -> None:
    async with scene() as made:
        made.runner.put(notice("it has ended", wakes=True))
        await made.idle()
        assert made.turns == 1


async def test_closing_ends_work_on_the_past() -> None:
    async with scene() as made:
        work = asyncio.create_task(made.runner.alone(made.held))
        await made.reached.wait()
        await made.runner.close()
        with pytest.raises(SessionError, match="Interrupted"):
            await work


@pytest.mark.parametrize("steps", range(8))
async def test_an_interrupt_at_any_moment_leaves_one_end_and_an_idle_session(steps: int) -> None:
    async with house("say: Hi.\n---\nsay: Again.") as built, Recorder(built.session) as seen:
        built.session.submit("go")
        for _ in range(steps):
            await asyncio.sleep(0)
        built.session.interrupt()
        await asyncio.wait_for(built.session.idle(), PATIENCE)
        await seen.until(TurnEnded)
        assert len(seen.of(TurnStarted)) == len(seen.of(TurnEnded)) == 1
        assert len(seen.of(UserMessage)) == 1


class Opener:
    """Opens a model of its own each time; the first one waits for the test."""

    def __init__(self) -> None:
        self.made: list[ScriptedProvider] = []
        self.gate = threading.Event()
        self.begun = threading.Event()

    def __call__(self, name: str, effort: str) -> OpenModel:
        first = not self.made
        provider = ScriptedProvider.parse("say: Hi.\n---\nsay: Hi.", repeat=True)
        self.made.append(provider)
        self.begun.set()
        if first:
            self.gate.wait(PATIENCE)
        return open_scripted(provider, name, effort)


async def test_every_model_that_was_opened_is_closed() -> None:
    opener = Opener()
    opener.gate.set()
    models = Models(opener, "one", ("other",))
    await models.needed()
    await models.change("two", "")
    assert models.fallbacks()() is not None
    models.renew()
    assert (await models.needed()).name == "two"
    await models.settle()
    assert [provider.closed for provider in opener.made] == [True, True, True, False]
    await models.close()
    assert all(provider.closed for provider in opener.made)


async def test_a_model_chosen_while_another_is_opened_stays_chosen() -> None:
    opener = Opener()
    models = Models(opener, "slow", ())
    opening = asyncio.create_task(models.needed())
    assert await asyncio.to_thread(opener.begun.wait, 2)
    await models.change("chosen", "")
    opener.gate.set()
    assert (await opening).name == "chosen"
    assert models.name == "chosen"
    await models.close()
    assert all(provider.closed for provider in opener.made)
