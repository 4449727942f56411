"""A line typed into a panel: what is doubtful is taken only after the doubt could be read."""

from __future__ import annotations

import asyncio
import gc
from typing import Any, cast

from textual.worker import Worker

from gatewright.agent.commands.panels import Proposal
from gatewright.agent.commands.rules.keeping_places import Shelf
from gatewright.tui.panels.field import Field, Wanted
from gatewright.tui.panels.sheet import Press, Sheet
from gatewright.tui.work import Work
from tests.tui.stage import stage

ENTER = Press("enter", "", settled=True)


class Panel:
    """Where the field is, with a disk that answers when the test lets it."""

    def __init__(self) -> None:
        self.answers = asyncio.Event()
        self.taken: list[str] = []
        self.tasks: set[asyncio.Task[None]] = set()

    def work(self, doing: Work) -> None:
        self.tasks.add(asyncio.create_task(doing()))

    async def check(self, text: str) -> Proposal:
        await self.answers.wait()
        return Proposal(valid=True, text=f"Opens {text}.", doubt="It holds keys.")

    async def take(self, text: str, shelf: Shelf | None) -> None:
        del shelf
        self.taken.append(text)

    async def done(self) -> None:
        await asyncio.gather(*self.tasks)


def typed(panel: Panel, text: str) -> Field:
    return Field(cast("Sheet", panel), Wanted("Open", text=text), panel.check, panel.take)


async def test_a_doubled_enter_confirms_nothing() -> None:
    panel = Panel()
    field = typed(panel, "~/.ssh")
    field.press(ENTER)
    field.press(ENTER)
    panel.answers.set()
    await panel.done()
    assert panel.taken == []
    assert "enter does it all the same" in field.keys
    field.press(ENTER)
    await panel.done()
    assert panel.taken == ["~/.ssh"]


async def test_another_text_is_not_confirmed_by_the_answer_to_an_old_one() -> None:
    panel = Panel()
    field = typed(panel, "~/.ss")
    field.press(ENTER)
    await asyncio.sleep(0)
    field.press(Press("h", "h", settled=True))
    panel.answers.set()
    await panel.done()
    field.press(ENTER)
    await panel.done()
    assert panel.taken == []


def _cancel(workers: set[Worker[Any]]) -> None:
    for worker in workers:
        worker.cancel()


async def test_work_cancelled_before_its_first_step_leaves_nothing_unawaited() -> None:
    panel = Panel()
    async with stage() as s:
        others = set(s.app.workers)
        Field(s.app.repl.sheet, Wanted("Open"), panel.check, panel.take)
        _cancel({*s.app.workers} - others)
        await s.pilot.pause()
        gc.collect()  # what was made and never awaited is told of here, and a warning is an error
