"""A mode that changes while a question stands: the question is another one, and no yes slips by."""

from __future__ import annotations

import asyncio
from pathlib import Path

from gatewright.permissions.gate import Gate
from gatewright.permissions.policy import Policy, PolicyConfig
from gatewright.permissions.request import GatePorts, Passed, Refused, Request
from gatewright.tools.access import Access, Where
from gatewright.tools.calls import Facts, Prepared
from gatewright.tools.interact import Answer, Ask
from gatewright.tools.protocol import ToolCall
from tests.fakes.waiting import PATIENCE


class Desk:
    """Questions stay until they are answered or taken away."""

    def __init__(self, root: Path) -> None:
        self.policy = Policy(PolicyConfig(root=root, cwd=root, home=root.parent, trusted=True))
        self.gate = Gate(self.policy, GatePorts())
        self.shown: list[Ask] = []
        self.standing: list[asyncio.Future[Answer]] = []
        self.news = asyncio.Event()
        path = root / "a.py"
        call = ToolCall("c", "Write", {"file_path": str(path), "content": "x"})
        facts = Facts(access=Access(writes=(path,)), verb="Write", target="a.py")
        where = Where(root, root, root.parent)
        self.request = Request(Prepared(call=call, facts=facts), where, self.ask)

    async def ask(self, ask: Ask) -> Answer:
        self.shown.append(ask)
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self.standing.append(answer)
        self.news.set()
        return await answer

    async def asked(self) -> None:
        await asyncio.wait_for(self.news.wait(), PATIENCE)


async def test_a_yes_writes_nothing_once_the_mode_is_plan(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    judging = asyncio.create_task(desk.gate.authorize(desk.request))
    await desk.asked()
    desk.policy.set("plan")
    outcome = await asyncio.wait_for(judging, PATIENCE)
    assert isinstance(outcome, Refused)
    assert "Plan mode changes no files" in outcome.message
    assert desk.standing[0].cancelled(), "the question is taken away"
    assert desk.policy.current() == "plan"


async def test_a_yes_of_the_same_moment_does_not_count_either(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    judging = asyncio.create_task(desk.gate.authorize(desk.request))
    await desk.asked()
    desk.policy.set("plan")
    desk.standing[0].set_result(Answer(("always",)))
    assert isinstance(await asyncio.wait_for(judging, PATIENCE), Refused)
    assert desk.policy.current() == "plan"


async def test_a_switch_answers_nothing(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    judging = asyncio.create_task(desk.gate.authorize(desk.request))
    await desk.asked()
    desk.policy.set("acceptEdits")
    for _ in range(100):
        await asyncio.sleep(0)
    assert not judging.done()
    desk.standing[0].set_result(Answer(("once",)))
    assert isinstance(await asyncio.wait_for(judging, PATIENCE), Passed)
    assert len(desk.shown) == 1
