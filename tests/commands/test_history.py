"""The commands about a session's past say what they did, or what to do instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from gatewright.agent.record.events import Compacted, TitleChanged
from tests.fakes.commands import built_in
from tests.fakes.commands import told as said
from tests.fakes.house import house
from tests.fakes.recorder import Recorder
from tests.history.desk import Desk
from tests.history.test_rewind import talking


async def run(desk: Desk, line: str) -> str:
    return said(await desk.session.run_command(line))


async def test_with_nothing_said_there_is_nothing_to_go_back_to(tmp_path: Path) -> None:
    async with talking(tmp_path) as (desk, _):
        assert await run(desk, "/rewind 1") == "There is nothing to go back to yet."


async def test_rewind(tmp_path: Path) -> None:
    async with talking(tmp_path, "write a=1", "write b=2") as (desk, _):
        lines = (await run(desk, "/rewind")).splitlines()
        assert lines[1].split()[0] == "1"
        assert "write b=2" in lines[1]
        assert "1 file" in lines[1]
        assert "1 files" not in lines[1]
        assert "deleted" in await run(desk, "/rewind 1 preview")
        assert "from 1 to 2" in await run(desk, "/rewind 9")
        assert "from 1 to 2" in await run(desk, "/rewind x")
        assert "talk, code or preview" in await run(desk, "/rewind 1 nonsense")
        assert desk.files() == {"a": "1", "b": "2"}
        done = await run(desk, "/rewind 1")
        assert "1 file put back" in done
        assert "back to before: write b=2" in done
        assert desk.files() == {"a": "1"}
        assert "1 file put back" in await run(desk, "/rewind undo")
        assert desk.files() == {"a": "1", "b": "2"}


async def test_compact(tmp_path: Path) -> None:
    async with talking(tmp_path, "write a=1") as (desk, seen):
        assert "too little" in await run(desk, "/compact")
        assert "nothing to undo" in await run(desk, "/compact undo")
    async with talking(tmp_path / "long", "write a=1", "please " * 4_000, "go on") as (desk, seen):
        before = desk.talk.view()
        preview = await run(desk, "/compact --preview")
        assert "Summarised" in preview
        assert desk.talk.view() == before
        assert "Summarised: about" in await run(desk, "/compact look to a")
        assert (await seen.until(Compacted)).trigger == "manual"
        await run(desk, "/compact undo")
        assert desk.talk.view() == before


async def test_context_rename_resume_export(tmp_path: Path) -> None:
    async with talking(tmp_path, "write a=1") as (desk, seen):
        text = await run(desk, "/context")
        assert "Your messages" in text
        assert "of 100,000 tokens" in text
        assert "A new name" in await run(desk, "/rename   A new   name ")
        assert (await seen.until(TitleChanged)).title == "A new name"
        assert "Usage" in await run(desk, "/rename")
        assert "no other session" in await run(desk, "/resume")
        assert "Written to" in await run(desk, "/export md out.md")
        assert "> write a=1" in (desk.root / "out.md").read_text(encoding="utf-8")
        assert "exists" in await run(desk, "/export md out.md")
        assert "one of md, json, html" in await run(desk, "/export pdf")


async def test_busy_and_unstored() -> None:
    async with house("wait: gate\nsay: x") as built, Recorder(built.session):
        built.session.submit("go")
        await built.provider.reached("gate")
        assert "Interrupt" in said(await built.session.run_command("/compact"))
        assert "Interrupt" in said(await built.session.run_command("/rewind 1"))
        built.provider.release("gate")
        await built.session.idle()
        assert "not stored" in said(await built.session.run_command("/export"))
        assert built.session.commands.find("memory") is None, "it reads no instruction files"


async def test_a_summary_can_be_interrupted() -> None:
    script = "say: x\nusage: in=50000\n---\nwait: gate\nsay: never"
    async with house(script) as built, Recorder(built.session):
        built.session.submit("long " * 4_000)
        await built.session.idle()
        import asyncio

        running = asyncio.create_task(built.session.run_command("/compact"))
        await built.provider.reached("gate")
        assert built.session.busy
        assert built.session.interrupt()
        assert said(await running) == "Interrupted."
        assert not built.session.busy


@pytest.mark.parametrize("name", ["rewind", "compact", "context", "rename", "resume", "export"])
def test_they_are_listed(name: str) -> None:
    assert name in {command.name for command in built_in()}
