"""A system is a folder of its own and one line in a list."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from gatewright.agent import build
from gatewright.agent.commands.outcome import Problem, Say
from gatewright.agent.context.announcements import Announcement, Announcements
from gatewright.agent.errors import GatewrightError
from gatewright.agent.extensions import opened
from gatewright.agent.extensions.contribution import Contribution
from gatewright.agent.extensions.host import Extension, Host
from gatewright.agent.extensions.listed import EXTENSIONS
from gatewright.agent.record.events import (
    Cleared,
    Compacted,
    Decided,
    InputRefused,
    Noticed,
    TurnEnded,
)
from gatewright.agent.session.children import AgentSpec
from gatewright.agent.settings.workspace import Surroundings
from gatewright.tools.blocks import plain
from tests.agent.toy_extension import plug
from tests.fakes.waiting import eventually
from tests.permissions.composed import WITHIN, desk

HERE = "tests.agent.test_extensions"
TOY = "tests.agent.toy_extension:TOY"


def test_the_toy_is_small() -> None:
    lines = (Path(__file__).parent / "toy_extension.py").read_text(encoding="utf-8").splitlines()
    assert len(lines) < 80


async def test_one_line_brings_a_tool_a_command_a_fold_a_moment_and_an_announcement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "EXTENSIONS", (*EXTENSIONS, TOY))
    script = ['call[c1]: Coin {"sides": 6}', "say: done", "say: again"]
    async with desk(tmp_path, script) as made:
        made.session.submit("toss")
        assert await made.finished("c1") == "heads of 6\nA call was seen."
        await made.ended()
        assert "There is a coin." in made.words(0)
        assert "Coin" in [tool["name"] for tool in made.server.bodies[0]["tools"]]
        made.session.submit("what weather!")
        refused = await made.seen.until(InputRefused, within=WITHIN)
        assert (refused.text, refused.reason) == ("what weather!", "No small talk.")
        made.session.submit("more")
        await made.ended(2)
        assert "There is a coin." in made.words(-1)
        assert sum("There is a coin." in text for text in made.words(-1)) == 1, "told once"
        said = await made.session.run_command("/heard")
        assert isinstance(said, Say)
        assert plain(said.blocks[0]) == "heard 2"


async def fails(host: Host) -> Contribution:
    raise GatewrightError("there is no moon tonight")


async def breaks(host: Host) -> Contribution:
    raise KeyError("moon")


async def sleeps(host: Host) -> Contribution:
    await asyncio.Event().wait()
    raise AssertionError


FAILING = Extension(name="the moon", plug=fails)
BROKEN = Extension(name="the moon", plug=breaks)
SLOW = Extension(name="the moon", plug=sleeps)
UNWANTED = Extension(name="the moon", plug=breaks, wanted=lambda around: False)


def with_coins(around: Surroundings) -> bool:
    return (around.where.root / "coins").exists()


LATE = Extension(name="coins", plug=plug, wanted=with_coins)
LATE_MOON = Extension(name="the moon", plug=breaks, wanted=with_coins)
WITH_EFFORT = Extension(
    name="coins", plug=plug, wanted=lambda around: around.settings.effort == "high"
)
NEEDED = Extension(name="the moon", plug=fails, needed=True)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("FAILING", "there is no moon tonight"),
        ("BROKEN", "KeyError"),
        ("SLOW", "it took more than"),
    ],
)
async def test_one_that_fails_is_a_notice_and_the_session_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, why: str
) -> None:
    monkeypatch.setattr(opened, "LIMIT", 0.05)
    monkeypatch.setattr(build, "EXTENSIONS", (f"{HERE}:{name}", *EXTENSIONS))
    async with desk(tmp_path, ["say: here"]) as made:
        told = await made.seen.until(Noticed, where=lambda e: "the moon" in e.text, within=WITHIN)
        assert why in told.text
        made.session.submit("hello")
        assert (await made.seen.until(TurnEnded, within=WITHIN)).message == ""


async def test_one_that_a_session_cannot_do_without_ends_it_before_it_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "EXTENSIONS", (*EXTENSIONS, f"{HERE}:NEEDED"))
    with pytest.raises(GatewrightError, match="no moon tonight"):
        async with desk(tmp_path, ["say: here"]):
            pass


async def test_one_that_is_not_wanted_is_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "EXTENSIONS", (*EXTENSIONS, f"{HERE}:UNWANTED"))
    async with desk(tmp_path, ["say: here"]) as made:
        assert not any("the moon" in notice.text for notice in made.seen.of(Noticed))


async def test_one_that_is_wanted_later_plugs_in_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "EXTENSIONS", (*EXTENSIONS, f"{HERE}:LATE"))
    script = ["say: hello", 'call[c1]: Coin {"sides": 6}', "say: done", "say: fine"]
    async with desk(tmp_path, script) as made:
        made.session.submit("hi")
        await made.ended()
        assert made.session.commands.find("heard") is None
        (made.project / "coins").touch()
        made.session.submit("toss")
        assert await made.finished("c1") == "heads of 6\nA call was seen.", "tool and moment"
        await made.ended(2)
        told = " ".join(made.words(1))
        assert "There is a coin." in told and "by their name: Coin" in told, "announcements"
        arrays = [body["tools"] for body in made.server.bodies]
        assert arrays[0] == arrays[-1], "the array is as it was"
        made.session.submit("more")
        await made.ended(3)
        said = await made.session.run_command("/heard")
        assert isinstance(said, Say)
        assert plain(said.blocks[0]) == "heard 2", "its fold, from then on"


async def test_a_setting_that_changes_is_heard_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "EXTENSIONS", (*EXTENSIONS, f"{HERE}:WITH_EFFORT"))
    async with desk(tmp_path, ["say: hello"]) as made:
        assert made.session.commands.find("heard") is None
        kept = await made.session.keep_setting("effort", '"high"')
        assert not isinstance(kept, Problem), kept
        await eventually(lambda: made.session.commands.find("heard") is not None)


async def test_one_that_is_late_and_fails_is_a_notice_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "EXTENSIONS", (*EXTENSIONS, f"{HERE}:LATE_MOON"))
    async with desk(tmp_path, ["say: hello"]) as made:
        (made.project / "coins").touch()
        made.session.submit("hi")
        await made.seen.until(Noticed, where=lambda e: "moon is left out" in e.text)
        assert (await made.seen.until(TurnEnded, within=WITHIN)).message == ""


def test_what_keeps_a_session_safe_does_not_come_later() -> None:
    with pytest.raises(ValueError, match="the moon cannot be needed and come later"):
        Extension(name="the moon", plug=fails, wanted=lambda around: False, needed=True)


@pytest.mark.parametrize(
    "boundary", [Compacted(summary="", trigger="auto", tokens_before=1), Cleared()]
)
def test_an_announcement_is_told_when_it_changed_and_whole_after_a_boundary(
    boundary: Compacted | Cleared,
) -> None:
    now = ["two servers"]
    telling = Announcements([lambda: Announcement("servers", now[0])])
    assert telling.due() == ["two servers"]
    assert telling.due() == []
    now[0] = "three servers"
    assert telling.due() == ["three servers"]
    telling.saw(boundary)
    assert telling.due() == ["three servers"]
    now[0] = ""
    assert telling.due() == ["servers: nothing of what was said holds any more."]
    assert telling.due() == []


async def test_a_child_may_do_less_than_its_parent_and_never_more(tmp_path: Path) -> None:
    write = 'call[{0}]: Write {{"file_path": "{0}", "content": "x"}}'
    script = ["say: hello", write.format("c1"), "say: done", write.format("c2"), "say: done"]
    async with desk(tmp_path, script, mode="acceptEdits", interactive=False) as made:
        made.session.submit("hi")
        await made.ended()
        for name, mode in (("tight", "plan"), ("loose", "bypassPermissions")):
            spec = AgentSpec(name=name, kind="general", prompt="write", mode=mode)
            run = made.session.spawn(spec)
            async with asyncio.timeout(WITHIN):
                await run.idle()
            await run.close()
        assert not (made.project / "c1").exists(), "plan keeps it from writing"
        assert (made.project / "c2").exists()
        told = {one.call_id: one.behavior for one in made.seen.of(Decided)}
        assert told == {"c1": "deny", "c2": "allow"}
        with pytest.raises(ValueError, match="nonsense"):
            made.session.spawn(AgentSpec(name="x", kind="general", prompt="", mode="nonsense"))
