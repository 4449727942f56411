"""Ways to answer that stand alone, and reasons that are longer than their room."""

from __future__ import annotations

from gatewright.agent.record.events import Asked
from gatewright.tools.blocks import Command
from gatewright.tools.interact import Answer, Ask, Option
from gatewright.tui.ask.guard import GUARD
from tests.tui.stage import stage


async def test_a_reason_that_is_cut_is_read_whole_below_the_body() -> None:
    reason = " ".join(f"word{n}" for n in range(60))
    question = Ask(
        kind="permission",
        title="Run ls",
        body=(Command("ls"),),
        options=(Option("once", "Yes, once", "y"), Option("no", "No", "n")),
        reason=reason,
    )
    async with stage(size=(60, 14)) as s:
        s.session.publish(Asked(id=1, ask=question))
        text = await s.see("Yes, once")
        assert "word59" not in text
        for _ in range(20):
            await s.press("pagedown")
        await s.see("word59")


async def test_a_way_that_stands_alone_answers_where_several_may_be_chosen() -> None:
    question = Ask(
        kind="question",
        title="Which ones?",
        body=(),
        options=(Option("a", "Apples", "1"), Option("back", "Back", "b", alone=True)),
        multiple=True,
    )
    async with stage() as s:
        s.session.publish(Asked(id=1, ask=question))
        text = await s.see("[ ] Apples", "Back")
        assert "[ ] Back" not in text
        await s.settled()
        s.clock.now += 2 * GUARD
        await s.press("space", "b")
        await s.wait(2 * GUARD)
        await s.until(lambda: s.session.answers == [(1, Answer(("back",)))])
