"""What is only told: files that change, a person who is waited for, turns that fail, new places."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.errors import FailureKind
from gatewright.agent.hooks.following import Following, FollowingPorts
from gatewright.agent.hooks.kinds.running import Output
from gatewright.agent.hooks.watching import Watching
from gatewright.agent.record.events import (
    AgentFinished,
    Answered,
    AnyEvent,
    Asked,
    Envelope,
    InstructionsLoaded,
    ModelChanged,
    Moved,
    TurnEnded,
    TurnStarted,
)
from gatewright.agent.turn.stop import Stop
from gatewright.tools.access import MAIN
from gatewright.tools.interact import Answer, Ask
from tests.fakes.waiting import eventually
from tests.hooks.scripts import part
from tests.hooks.test_events import Desk

FINE = Output(exit=0)


class Timers:
    """Plays the loop's clock: what is due is called by the test."""

    def __init__(self) -> None:
        self.due: list[tuple[float, Callable[[], None], asyncio.TimerHandle]] = []

    def later(self, seconds: float, call: Callable[[], None]) -> asyncio.TimerHandle:
        handle = asyncio.get_running_loop().call_later(3600, call)
        self.due.append((seconds, call, handle))
        return handle

    def pass_by(self, seconds: float) -> None:
        for due, call, handle in self.due:
            if due <= seconds and not handle.cancelled():
                handle.cancel()
                call()


class Follow:
    def __init__(self, tmp_path: Path, event: str) -> None:
        self.desk, self.timers, self.cwd = Desk(tmp_path, event, FINE), Timers(), tmp_path
        ports = FollowingPorts(
            cwd=lambda agent: self.cwd,
            said=lambda agent: "last words",
            later=self.timers.later,
        )
        self.following = Following(self.desk.engine, self.desk.listening, ports)

    def saw(self, event: AnyEvent, agent: str = MAIN) -> None:
        self.following.saw(
            Envelope(seq=1, uuid="", parent="", timestamp=0.0, agent=agent, event=event)
        )

    async def heard(self, count: int = 1) -> dict[str, Any]:
        await eventually(lambda: len(self.desk.heard) >= count, what="a hook")
        return self.desk.heard[-1]


ASK = Ask(kind="permission", title="Run it?", body=(), options=())


async def test_a_person_is_called_after_a_while_and_not_when_they_answered(tmp_path: Path) -> None:
    follow = Follow(tmp_path, "Notification")
    follow.saw(Asked(id=1, ask=ASK))
    follow.timers.pass_by(5.9)
    assert not follow.desk.heard
    follow.timers.pass_by(6.0)
    told = await follow.heard()
    assert (told["notification_type"], told["message"]) == ("permission_prompt", "Run it?")
    assert told["title"] == "Gatewright"
    follow.saw(Asked(id=2, ask=ASK))
    follow.saw(Answered(id=2, answer=Answer(("once",))))
    follow.timers.pass_by(99)
    assert len(follow.desk.heard) == 1
    await follow.following.close()


async def test_an_idle_session_calls_after_a_minute_unless_it_goes_on(tmp_path: Path) -> None:
    follow = Follow(tmp_path, "Notification")
    follow.saw(TurnEnded(stop=Stop.COMPLETED))
    follow.saw(TurnStarted())
    follow.timers.pass_by(99)
    assert not follow.desk.heard
    follow.saw(TurnEnded(stop=Stop.COMPLETED))
    follow.timers.pass_by(60)
    assert (await follow.heard())["notification_type"] == "idle_prompt"
    follow.saw(AgentFinished(child="main/a1", ok=True, report="found it"))
    assert (await follow.heard(2))["notification_type"] == "agent_completed"
    await follow.following.close()


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (FailureKind.RATE, "rate_limit"),
        (FailureKind.OVERLOADED, "overloaded"),
        (FailureKind.AUTH, "authentication_failed"),
        (FailureKind.QUOTA, "billing_error"),
        (FailureKind.NO_MODEL, "model_not_found"),
        (FailureKind.TRANSPORT, "server_error"),
    ],
)
async def test_a_turn_that_fails_is_told_by_its_kind(
    tmp_path: Path, kind: FailureKind, said: str
) -> None:
    follow = Follow(tmp_path, "StopFailure")
    follow.saw(TurnEnded(stop=Stop.COMPLETED))
    follow.saw(TurnEnded(stop=Stop.MODEL_ERROR, failure=kind, message="oh"))
    told = await follow.heard()
    assert (told["error"], told["error_details"]) == (said, "oh")
    assert told["last_assistant_message"] == "last words"
    assert len(follow.desk.heard) == 1
    await follow.following.close()


async def test_a_new_place_is_told_once_it_holds(tmp_path: Path) -> None:
    follow = Follow(tmp_path, "CwdChanged")
    follow.saw(Moved(where="src/"))
    follow.cwd = tmp_path / "src"
    told = await follow.heard()
    assert (told["old_cwd"], told["new_cwd"]) == (str(tmp_path), str(tmp_path / "src"))
    await follow.following.close()


async def test_another_model_is_told_but_not_the_first(tmp_path: Path) -> None:
    follow = Follow(tmp_path, "PostModelSwitch")
    follow.saw(ModelChanged(model="a"))
    follow.saw(ModelChanged(model="b"))
    told = await follow.heard()
    assert (told["old_model"], told["new_model"]) == ("a", "b")
    await follow.following.close()


async def test_context_of_what_is_only_told_comes_with_the_next_turn(tmp_path: Path) -> None:
    follow = Follow(tmp_path, "PostModelSwitch")
    answer = json.dumps(part("PostModelSwitch", additionalContext="mind the prices"))
    follow.desk.output = Output(exit=0, stdout=answer)
    follow.saw(ModelChanged(model="a"))
    follow.saw(ModelChanged(model="b"))
    await eventually(lambda: bool(follow.desk.passed), what="the context")
    ((text, agent, wakes),) = follow.desk.passed
    assert ("mind the prices" in text, agent, wakes) == (True, MAIN, False)
    await follow.following.close()


async def test_an_instruction_file_is_told_under_its_public_names(tmp_path: Path) -> None:
    follow = Follow(tmp_path, "InstructionsLoaded")
    loaded = InstructionsLoaded(
        path="/p/.claude/rules/a.md",
        kind="shared",
        reason="path_glob_match",
        globs=("*.py",),
        trigger="/p/a.py",
    )
    follow.saw(loaded)
    told = await follow.heard()
    names = ("file_path", "memory_type", "load_reason", "globs", "trigger_file_path")
    assert [told[name] for name in names] == [
        "/p/.claude/rules/a.md", "Project", "path_glob_match", ["*.py"], "/p/a.py",
    ]  # fmt: skip
    assert "parent_file_path" not in told
    await follow.following.close()


class Ticks:
    """The second between two looks, as the test has it."""

    def __init__(self) -> None:
        self.waiting: list[asyncio.Future[None]] = []

    def __call__(self, seconds: float) -> asyncio.Future[None]:
        assert seconds == 1.0
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waiting.append(future)
        return future

    async def tick(self) -> None:
        await eventually(lambda: bool(self.waiting), what="a look")
        self.waiting.pop().set_result(None)


async def test_files_that_change_are_told_and_nothing_runs_while_none_is_watched(
    tmp_path: Path,
) -> None:
    seen: list[tuple[str, str]] = []
    ticks = Ticks()
    watching = Watching(lambda path, how: seen.append((Path(path).name, how)), ticks)
    assert not ticks.waiting
    (tmp_path / "b").write_text("1", encoding="utf-8")
    watching.names(["a"], tmp_path)
    watching.ask([str(tmp_path / "b"), "relative", "/nul\0"])
    assert len(watching.paths) == 2
    await ticks.tick()
    (tmp_path / "a").write_text("1", encoding="utf-8")
    (tmp_path / "b").write_text("22", encoding="utf-8")
    await ticks.tick()
    await eventually(lambda: len(seen) == 2, what="both")
    (tmp_path / "b").unlink()
    await ticks.tick()
    await eventually(lambda: len(seen) == 3, what="the end")
    assert seen == [("a", "add"), ("b", "change"), ("b", "unlink")]
    await watching.close()


async def test_no_more_than_some_files_are_watched() -> None:
    watching = Watching(lambda path, how: None, Ticks())
    watching.ask([f"/x/{n}" for n in range(500)])
    assert len(watching.paths) == 256
    await watching.close()
