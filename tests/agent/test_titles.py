"""A session gets a name once, from the first thing said, and nobody waits for it."""

from __future__ import annotations

import asyncio
import os
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from gatewright.agent.errors import GatewrightError
from gatewright.agent.models.model import OpenModel
from gatewright.agent.providers.apis.anthropic_request import Bodies
from gatewright.agent.providers.catalog import ModelFacts
from gatewright.agent.providers.demo.demo import DemoProvider
from gatewright.agent.providers.quirks import Quirks
from gatewright.agent.record.events import (
    AnyEvent,
    AttemptPaid,
    Cleared,
    TitleChanged,
    TurnEnded,
    UserMessage,
)
from gatewright.agent.record.events_of_past import Carried
from gatewright.agent.session.housekeeping import DAY, Housekeeping, let_old_sessions_go
from gatewright.agent.session.titles import LIMIT, REPEAT, Namer, TitleKeeper, tidy
from gatewright.agent.turn.request import RequestFrame
from gatewright.agent.turn.stop import Stop
from gatewright.tools.protocol import TextContent
from tests.fakes.house import open_scripted
from tests.fakes.scripted_provider import ScriptedProvider
from tests.fakes.waiting import PATIENCE
from tests.transcript.stored import chained, started, turn, write

SAID = UserMessage(content=(TextContent("please repair the parser"),))
HIDDEN = UserMessage(content=(TextContent("a notice"),), hidden=True)
DONE = TurnEnded(stop=Stop.COMPLETED)


async def titles(script: str, *events: AnyEvent) -> tuple[list[str], ScriptedProvider]:
    provider = ScriptedProvider.parse(script)
    published: list[AnyEvent] = []
    namer = Namer(lambda: open_scripted(provider, "small", ""), published.append)
    for event in events:
        namer.saw(event)
    await asyncio.wait_for(namer.settled(), PATIENCE)
    await namer.close()
    return [event.title for event in published if isinstance(event, TitleChanged)], provider


async def test_named_after_the_first_exchange() -> None:
    found, provider = await titles('say: "Repair the parser."', HIDDEN, SAID, DONE, SAID, DONE)
    assert found == ["Repair the parser"]
    assert len(provider.requests) == 1
    assert "please repair" in str(provider.requests[0].turns)
    assert "notice" not in str(provider.requests[0].turns)
    assert provider.closed


@pytest.mark.parametrize(
    "events",
    [
        (DONE,),
        (HIDDEN, DONE),
        (SAID, TurnEnded(stop=Stop.MODEL_ERROR)),
        (TitleChanged(title="Mine"), SAID, DONE),
        (Cleared(carried=Carried(title="Mine")), SAID, DONE),
    ],
)
async def test_not_named(events: tuple[AnyEvent, ...]) -> None:
    found, provider = await titles("say: x", *events)
    assert (found, provider.requests) == ([], [])


async def test_without_a_model_it_is_how_the_message_begins() -> None:
    title = ""

    def publish(event: AnyEvent) -> None:
        nonlocal title
        assert isinstance(event, TitleChanged)
        title = event.title

    def demo() -> OpenModel:
        frame = RequestFrame(model="demo", effort="", system=(), tools=(), max_output=9)
        return OpenModel(
            name="demo", provider=DemoProvider(), frame=frame, window=9, price=lambda usage: 0.0
        )

    for said in ("find TODO", "read notes.txt\nplease"):
        namer = Namer(demo, publish)
        namer.saw(UserMessage(content=(TextContent(said),)))
        namer.saw(DONE)
        await asyncio.wait_for(namer.settled(), PATIENCE)
        assert title == said.partition("\n")[0]


async def test_what_a_title_costs_counts_for_the_session() -> None:
    provider = ScriptedProvider.parse("say: Repair\nusage: in=500 out=10")
    published: list[AnyEvent] = []
    namer = Namer(lambda: open_scripted(provider, "small", ""), published.append, seen=0.0)
    namer.saw(SAID)
    namer.saw(DONE)
    await asyncio.wait_for(namer.settled(), PATIENCE)
    await namer.close()
    (paid,) = [event for event in published if isinstance(event, AttemptPaid)]
    assert (paid.by, paid.usage.input, paid.usage.output) == ("title", 500, 10)


@pytest.mark.parametrize("script", ["error: overloaded", "say:  ", "cut:"])
async def test_a_failure_is_nobodys_problem(script: str) -> None:
    assert (await titles(script, SAID, DONE))[0] == []


async def test_no_model_and_an_end_in_between() -> None:
    def none() -> OpenModel:
        raise GatewrightError("no key")

    namer = Namer(none, lambda event: None)
    namer.saw(SAID)
    namer.saw(DONE)
    await namer.close()
    provider = ScriptedProvider.parse("wait: gate\nsay: x")
    namer = Namer(lambda: open_scripted(provider, "small", ""), lambda event: None)
    namer.saw(SAID)
    namer.saw(DONE)
    await provider.reached("gate")
    await namer.close()
    assert provider.closed


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Fix it", "Fix it"),
        ('\n "Fix it."\nmore', "Fix it"),
        ("**Title: Fix** the thing", "Fix** the thing"),
        ("", ""),
        ("x" * 200, "x" * LIMIT),
    ],
)
def test_titles_are_tidied(text: str, title: str) -> None:
    assert tidy(text) == title


async def test_old_sessions_go_once_a_day(tmp_path: Path) -> None:
    folder = tmp_path / "projects" / "-w"
    now = 1e9

    async def clean(days: int) -> set[str]:
        for name, age in (("old", 40), ("new", 1)):
            path = write(folder / f"{name}.jsonl", chained([started(), *turn(1)]))
            os.utime(path, (now - age * DAY, now - age * DAY))
        keeping = Housekeeping(
            TurnEnded, partial(let_old_sessions_go, tmp_path, days=days, now=lambda: now)
        )
        keeping.saw(SAID)
        await keeping.settled()
        assert (folder / "old.jsonl").exists()  # not before a turn has ended
        keeping.saw(DONE)
        await asyncio.wait_for(keeping.settled(), PATIENCE)
        await keeping.close()
        return {path.stem for path in folder.glob("*.jsonl")}

    assert await clean(0) == {"old", "new"}
    assert await clean(30) == {"new"}
    os.utime(tmp_path / "state" / "cleaned", (now, now))
    assert await clean(30) == {"old", "new"}  # it was done today


async def test_a_title_is_said_again_as_the_file_grows(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"x" * REPEAT)
    said: list[AnyEvent] = []
    keeper = TitleKeeper(path, said.append)

    async def after(event: AnyEvent) -> int:
        keeper.saw(event)
        await asyncio.sleep(0)
        return len(said)

    assert await after(DONE) == 0  # it has none
    assert await after(TitleChanged(title="T")) == 0
    assert await after(DONE) == 0
    path.write_bytes(b"x" * (2 * REPEAT + 1))
    assert await after(SAID) == 0
    assert await after(DONE) == 1
    assert said == [TitleChanged(title="T")]
    keeper.saw(said[0])
    assert await after(DONE) == 1
    assert await after(Cleared(carried=Carried(title=""))) == 1
    path.unlink()
    assert await after(DONE) == 1


async def test_the_answer_is_seen_before_a_title_is_asked_for() -> None:
    provider = ScriptedProvider.parse('say: "Repair the parser."')
    namer = Namer(lambda: open_scripted(provider, "small", ""), lambda _: None, seen=30.0)
    for event in (SAID, DONE):
        namer.saw(event)
    for _ in range(20):
        await asyncio.sleep(0)
    assert provider.requests == []
    await namer.close()


async def test_a_title_leaves_nothing_in_a_cache() -> None:
    _, provider = await titles("say: Repair it", SAID, DONE)
    (request,) = provider.requests
    assert request.once
    body = Bodies().body(request, ModelFacts(), Quirks())
    assert "cache_control" not in str(body)
    kept = Bodies().body(replace(request, once=False), ModelFacts(), Quirks())
    assert str(kept).count("cache_control") == 2
