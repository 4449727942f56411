"""Embedding: the real composition, a loopback model server, and the caller's own consent."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.api import Client, query
from gatewright.agent.errors import GatewrightError
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.record.events import (
    Asked,
    AssistantMessage,
    SessionStarted,
    TextDelta,
    ToolFinished,
    TurnEnded,
)
from gatewright.agent.turn.stop import Stop
from gatewright.tools.interact import Answer, Ask
from tests.fakes.model_server import ModelServer
from tests.fakes.waiting import PATIENCE

RUN = 'call: Bash {"command": "echo hi > ran"}\n---\nsay: Done.\n'


NO_TITLES = '{"smallModel": "demo"}'  # what names a session needs no server


class Place:
    """A project and an environment of the test's own."""

    def __init__(self, tmp_path: Path, server: ModelServer) -> None:
        self.project = tmp_path / "project"
        self.project.mkdir(exist_ok=True)
        (tmp_path / "home").mkdir(exist_ok=True)
        self.server = server
        self.env = {
            "HOME": str(tmp_path / "home"),
            "PATH": "/usr/bin:/bin",
            "ANTHROPIC_API_KEY": "k",
            "ANTHROPIC_BASE_URL": server.url,
        }

    def client(self, consent: Any = None, **options: Any) -> Client:
        given = LaunchOptions(cwd=str(self.project), **options)
        return Client(given, consent=consent, env=self.env)


@pytest.fixture
async def serve(tmp_path: Path) -> AsyncGenerator[Callable[..., Any]]:
    servers: list[ModelServer] = []

    async def serve_(script: str) -> Place:
        servers.append(ModelServer(script))
        await servers[-1].start()
        return Place(tmp_path, servers[-1])

    yield serve_
    for server in servers:
        await server.stop()


async def yes(ask: Ask) -> Answer:
    return Answer(choices=("once",))


@pytest.mark.parametrize("choices", ["once", ["once"], ("once", 1), None])
def test_an_answer_of_a_wrong_shape_raises(choices: Any) -> None:
    with pytest.raises(TypeError, match=r"Answer\.of"):
        Answer(choices)


def test_a_choice_is_written_without_a_tuple() -> None:
    assert Answer.of("once") == Answer(choices=("once",))
    assert Answer.of("a", "b").choices == ("a", "b")
    assert Answer.of().choices == ()
    with pytest.raises(TypeError, match="text"):
        Answer(text=7)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("wrong", "kind"), [("once", TypeError), (None, TypeError), (Answer.of("onec"), ValueError)]
)
async def test_a_consent_that_is_no_answer_is_told_and_permits_nothing(
    serve: Callable[..., Any], wrong: Any, kind: type[Exception]
) -> None:
    async def consent(ask: Ask) -> Answer:
        answer: Answer = wrong
        return answer

    place: Place = await serve(RUN)
    async with place.client(consent, settings=NO_TITLES) as client:
        with pytest.raises(kind, match=r"Answer|There is no option 'onec'; there are once"):
            await client.answer("go")
    assert not (place.project / "ran").exists()


async def test_a_question_as_events(serve: Callable[..., Any]) -> None:
    place: Place = await serve("say: Hello.\n")
    options = LaunchOptions(cwd=str(place.project))
    events = [event async for event in query("Hi?", options, env=place.env)]
    assert isinstance(events[0], SessionStarted)
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "Hello."
    assert isinstance(events[-1], TurnEnded)
    assert events[-1].stop is Stop.COMPLETED


async def test_a_conversation(serve: Callable[..., Any]) -> None:
    place: Place = await serve("say: One.\n---\nsay: Two.\n")
    async with place.client() as client:
        assert (await client.answer("first")).text == "One."
        reply = await client.answer("second")
    assert (reply.text, reply.ok, reply.ended.requests) == ("Two.", True, 1)
    assert len(place.server.bodies[1]["messages"]) == 3


async def test_consent_decides(serve: Callable[..., Any]) -> None:
    asked: list[Ask] = []

    async def no(ask: Ask) -> Answer:
        asked.append(ask)
        return Answer(text="Not today.")

    place: Place = await serve(RUN)
    async with place.client(no) as client:
        await client.answer("go")
    assert [ask.tool for ask in asked] == ["Bash"]
    assert not (place.project / "ran").exists()
    place = await serve(RUN)
    async with place.client(yes) as client:
        assert (await client.answer("go")).text == "Done."
    assert (place.project / "ran").exists()


async def test_without_consent_nothing_waits(serve: Callable[..., Any]) -> None:
    place: Place = await serve(RUN)
    async with place.client() as client:
        events = [event async for event in client.ask("go")]
    assert not any(isinstance(event, Asked) for event in events)
    assert [event.ok for event in events if isinstance(event, ToolFinished)] == [False]


async def test_an_error_in_the_callback_is_no_consent(serve: Callable[..., Any]) -> None:
    async def broken(ask: Ask) -> Answer:
        raise RuntimeError("broken")

    place: Place = await serve(RUN)
    async with place.client(broken) as client:
        with pytest.raises(RuntimeError, match="broken"):
            await client.answer("go")
    assert not (place.project / "ran").exists()


async def test_data_of_a_schema(serve: Callable[..., Any]) -> None:
    schema = '{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}'
    place: Place = await serve('say: {"n": 5}\n')
    async with place.client(json_schema=schema) as client:
        assert (await client.answer("count")).data == {"n": 5}


async def test_who_stops_listening_stops_the_turn(serve: Callable[..., Any]) -> None:
    place: Place = await serve("say: Hello there.\nwait: never\n---\nsay: Second.\n")
    async with place.client() as client:
        async with asyncio.timeout(PATIENCE), aclosing(client.ask("first")) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    break
        reply = await client.answer("second")
    assert (reply.text, reply.ok) == ("Second.", True)


async def test_what_cannot_be_opened_says_why(serve: Callable[..., Any]) -> None:
    place: Place = await serve("")
    with pytest.raises(GatewrightError, match="no session to go on with"):
        async with place.client(continue_session=True):
            raise AssertionError("there is nothing to continue")
    with pytest.raises(GatewrightError, match="Enter the client first"):
        place.client().session.interrupt()


async def test_the_session_is_there_for_the_rest(serve: Callable[..., Any]) -> None:
    place: Place = await serve("say: x\n")
    async with place.client() as client:
        assert client.session.set_mode("plan") == "plan"
        events = [event async for event in client.ask("go")]
    assert any(isinstance(event, AssistantMessage) for event in events)


async def test_nobody_else_looks_into_what_a_session_leaves(serve: Callable[..., Any]) -> None:
    """Whatever the umask; the project's own files keep to it."""
    script = RUN.replace("echo hi > ran", "seq 200000; echo hi > ran")
    before = os.umask(0)
    try:
        place: Place = await serve(script)
        async with place.client(yes, settings=NO_TITLES) as client:
            await client.answer("go")
        own = Path(place.env["HOME"]) / ".gatewright"
        found = [own, *own.rglob("*")]
        kept = [path for path in found if path.is_file()]
        assert any("spill" in path.parts for path in kept)
        assert any(path.suffix == ".jsonl" for path in kept)
        assert [path for path in found if path.lstat().st_mode & 0o077] == []
        assert (place.project / "ran").stat().st_mode & 0o777 == 0o666
    finally:
        os.umask(before)


async def test_opusplan_plans_with_one_model_and_works_with_another(
    serve: Callable[..., Any],
) -> None:
    place = await serve("say: One.\n---\nsay: Two.\n---\nsay: Three.\n")
    async with place.client(model="opusplan") as client:
        for mode in ("plan", "default", "acceptEdits"):
            client.session.set_mode(mode)
            await client.answer("Go on.")
        assert client.session.model == "opusplan"
    asked = [body["model"].split("-")[1] for body in place.server.bodies]
    assert asked == ["opus", "sonnet", "sonnet"]


async def test_an_approved_plan_is_carried_out_by_the_other_model(
    serve: Callable[..., Any],
) -> None:
    script = 'call: ExitPlanMode {"plan": "Say hello."}\n---\nsay: Hello.\n'
    place = await serve(script)

    async def approve(ask: Ask) -> Answer:
        return Answer.of(next(o.id for o in ask.options if o.id != "once" and "plan" not in o.id))

    async with place.client(approve, model="opusplan", mode="plan") as client:
        await client.answer("Plan and do it.")
        assert client.session.mode != "plan"
    asked = [body["model"].split("-")[1] for body in place.server.bodies if body.get("tools")]
    assert asked == ["opus", "sonnet"]
