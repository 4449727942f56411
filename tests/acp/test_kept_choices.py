"""What was chosen in a session is on disk when the choice is answered, and an id stays good.

A killed process leaves what its home holds at that moment: a copy of that home stands for it.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.frontends.acp.stored_sessions import LATELY
from gatewright.agent.launch.options import LaunchOptions
from tests.acp.fake_editor import MODEL, Editor, Refused, editor

OTHER = "anthropic/claude-opus-4-8"


@asynccontextmanager
async def killed(folder: Path, *script: str) -> AsyncGenerator[Editor]:
    """A new process after the one that works in `folder` was killed just now."""
    after = folder / f"after-{time.monotonic_ns()}"
    shutil.copytree(folder / "home", after / "home")
    async with editor(after, *script, options=LaunchOptions()) as ed:
        ed.project = (folder / "project").resolve()
        yield ed


async def load(ed: Editor, session: str, how: str = "load") -> dict[str, Any]:
    place: dict[str, Any] = {"cwd": str(ed.project), "mcpServers": []}
    return await ed.ask(f"session/{how}", sessionId=session, **place)


async def choose(ed: Editor, session: str, option: str, value: str) -> None:
    await ed.ask("session/set_config_option", sessionId=session, configId=option, value=value)


def chosen(told: dict[str, Any]) -> dict[str, str]:
    found = {each["id"]: each["currentValue"] for each in told["configOptions"]}
    return {id: found[id] for id in ("mode", "model", "effort")}


@pytest.mark.parametrize("how", ["load", "resume", "fork"])
async def test_choices_in_a_loaded_session_are_there_after_a_kill(tmp_path: Path, how: str) -> None:
    async with editor(tmp_path, "say: Yes.", options=LaunchOptions(model=MODEL)) as ed:
        session = await ed.new()
        await ed.turn(session, "hello")
    async with editor(tmp_path, options=LaunchOptions()) as ed:
        await load(ed, session)
        await ed.ask("session/set_mode", sessionId=session, modeId="plan")
        async with killed(tmp_path) as later:
            assert chosen(await load(later, session, how))["mode"] == "plan"
        await choose(ed, session, "effort", "high")
        await choose(ed, session, "mode", "acceptEdits")
        async with killed(tmp_path) as later:
            told = chosen(await load(later, session, how))
            assert told == {"mode": "acceptEdits", "model": MODEL, "effort": "high"}


@pytest.mark.parametrize(
    ("line", "option", "value"),
    [("/mode plan", "mode", "plan"), ("/effort high", "effort", "high")],
)
async def test_a_choice_by_a_prompt_is_there_after_a_kill(
    tmp_path: Path, line: str, option: str, value: str
) -> None:
    async with editor(tmp_path) as ed:
        session = await ed.new()
        await ed.turn(session, line)
        async with killed(tmp_path) as later:
            assert chosen(await load(later, session))[option] == value


async def test_the_effort_of_a_loaded_session_is_asked_for(tmp_path: Path) -> None:
    async with editor(tmp_path, "say: Yes.") as ed:
        session = await ed.new()
        await choose(ed, session, "effort", "high")
        await ed.turn(session, "hello")
        first = ed.server.bodies[-1]
    async with editor(tmp_path, "say: Yes.") as ed:
        await load(ed, session)
        await ed.turn(session, "again")
        assert ed.server.bodies[-1].get("output_config") == first["output_config"]


async def test_an_effort_of_the_command_line_comes_first(tmp_path: Path) -> None:
    async with editor(tmp_path) as ed:
        session = await ed.new()
        await choose(ed, session, "effort", "high")
    async with editor(tmp_path, options=LaunchOptions(model=MODEL, effort="low")) as ed:
        assert chosen(await load(ed, session))["effort"] == "low"


async def test_a_session_without_a_prompt_is_loaded_as_an_empty_one(tmp_path: Path) -> None:
    async with editor(tmp_path) as ed:
        session = await ed.new()
    assert not list((tmp_path / "home").glob("**/*.jsonl")), "nothing was said or chosen in it"
    async with editor(tmp_path, "say: Yes.") as ed:
        await load(ed, session)
        assert "begins empty" in ed.text(session)
        assert (await ed.turn(session, "hello"))["stopReason"] == "end_turn"
    async with editor(tmp_path) as ed:
        await load(ed, session)
        assert "Yes." in ed.text(session)


async def test_what_was_chosen_without_a_prompt_is_kept_and_not_listed(tmp_path: Path) -> None:
    async with editor(tmp_path) as ed:
        session = await ed.new()
        await ed.ask("session/set_mode", sessionId=session, modeId="plan")
        assert (await ed.ask("session/list"))["sessions"] == []
    async with editor(tmp_path) as ed:
        assert chosen(await load(ed, session))["mode"] == "plan"
        assert not ed.text(session)


async def test_a_copy_is_there_before_a_word(tmp_path: Path) -> None:
    async with editor(tmp_path, "say: Yes.") as ed:
        session = await ed.new()
        await ed.turn(session, "hello")
        copy = (await load(ed, session, "fork"))["sessionId"]
        async with killed(tmp_path) as later:
            await load(later, copy)
            assert "Yes." in later.text(copy)


def made(at: float) -> str:
    text = f"{int(at * 1000):012x}"
    return f"{text[:8]}-{text[8:]}-7abc-8abc-0123456789ab"


def others(now: float) -> list[str]:
    good = made(now)
    return [
        made(now - LATELY - 60.0),
        made(now + 3600.0),
        good.upper(),
        good.replace("-7", "-4"),
        f"{good}/../x",
        f"{good}\n",
        f"..-{good[3:]}",
    ]


async def test_an_id_that_we_did_not_make_lately_is_unknown(tmp_path: Path) -> None:
    async with editor(tmp_path) as ed:
        for id in others(time.time()):
            for how in ("load", "resume", "fork"):
                with pytest.raises(Refused, match="no session") as error:
                    await load(ed, id, how)
                assert error.value.code == -32002


async def test_an_id_whose_file_is_no_session_is_unknown(tmp_path: Path) -> None:
    folder = tmp_path / "home" / ".gatewright" / "projects" / "x"
    folder.mkdir(parents=True)
    id = made(time.time())
    (folder / f"{id}.jsonl").write_text("torn", encoding="utf-8")
    async with editor(tmp_path) as ed:
        with pytest.raises(Refused, match="no session"):
            await load(ed, id)
