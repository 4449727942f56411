"""How a screen gets to a background session: found, joined, and told where versions differ."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from gatewright.agent.autonomy.running.attaching import Attaching, Visit
from gatewright.agent.autonomy.running.running_record import Record, Seen, write
from gatewright.agent.autonomy.running.socket_places import record_file, records_folder
from gatewright.agent.client import serving
from gatewright.agent.client.lobby import CHOOSE, Lobby
from gatewright.agent.client.remote import RemoteSession
from gatewright.agent.commands.outcome import Draft, Listing, Page, Problem, Quit, Switch
from gatewright.agent.commands.registry import LINES
from gatewright.agent.errors import GatewrightError, SessionError
from gatewright.agent.record.events import InputRefused, Noticed
from gatewright.agent.record.ids import new_id
from gatewright.agent.settings.groups.autonomy_settings import Bg
from gatewright.agent.version import VERSION
from gatewright.tools.system import private
from gatewright.tools.system.sweep import started_at
from tests.fakes.door import Door, door
from tests.fakes.fake_session import FakeSession


def kept(home: Path, place: Door | None, **more: str) -> Record:
    """A record as the session's own process writes it; the process is that of the tests."""
    made = Record(
        id=new_id(),
        pid=os.getpid(),
        start=started_at(os.getpid()),
        began=time.time(),
        changed=time.time(),
        title="Make it",
        socket=str(place.path) if place else "",
        cwd=str(home),
    )
    made = replace(made, **more)
    private.folder(records_folder(home))
    write(record_file(home, made.id), made)
    return made


def attaching(home: Path, record: Record, *, live: bool = True) -> Attaching:
    found = Seen(record, live=live)
    return Attaching(home, {"HOME": str(home)}, found, viewer="pts/3", limits=Bg)


@asynccontextmanager
async def opened(home: Path, session: FakeSession) -> AsyncGenerator[RemoteSession]:
    async with door(session.facade()) as place:
        joined = await attaching(home, kept(home, place)).open()
        try:
            yield joined
        finally:
            await joined.close()


def warnings(joined: RemoteSession) -> list[str]:
    events = joined.subscribe()
    told = [envelope.event for envelope in events.waiting()]
    events.close()
    return [event.text for event in told if isinstance(event, Noticed)]


async def test_another_version_of_the_program_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = FakeSession()
    async with opened(tmp_path, session) as joined:
        assert warnings(joined) == []
    monkeypatch.setattr(serving, "APP", "9.9.9")
    async with opened(tmp_path, session) as joined:
        [told] = warnings(joined)
    assert "version 9.9.9" in told
    assert f"version {VERSION}" in told
    assert "/restart" in told


async def test_lines_of_another_version_lead_to_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "VERSION", 99)
    async with door(FakeSession().facade()) as place:
        record = kept(tmp_path, place)
        with pytest.raises(SessionError, match=r"`agent stop \S+`, and `agent attach"):
            await attaching(tmp_path, record).open()


async def test_restart_waits_for_the_end_of_a_turn(tmp_path: Path) -> None:
    session = FakeSession()
    async with opened(tmp_path, session) as joined:
        busy = await joined.commands.run("/restart", LINES, busy=True)
        assert isinstance(busy, Problem)
        again = await joined.commands.run("/restart", LINES)
    assert again == Switch(attach=session.id)


async def test_one_that_ended_before_it_listened(tmp_path: Path) -> None:
    record = kept(tmp_path, None, why="It has no key.", state="failed")
    ended = Record(
        id=record.id, pid=record.pid, start=record.start, ended=time.time(), why="It has no key."
    )
    write(record_file(tmp_path, record.id), ended)
    with pytest.raises(SessionError, match="It has no key"):
        await attaching(tmp_path, record).open()


async def test_the_lobby_has_the_table_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GATEWRIGHT", raising=False)
    visit = Visit({"HOME": str(tmp_path), "GATEWRIGHT_HOME": str(tmp_path)}, Bg)
    lobby = visit.joined(Lobby())
    assert isinstance(await lobby.run_command("/sessions", LINES), Page)
    kept(visit.home, None, ask="Run make?", state="needs you")
    kept(visit.home, None)
    visit = Visit({"HOME": str(tmp_path), "GATEWRIGHT_HOME": str(tmp_path)}, Bg)
    lobby = visit.joined(Lobby())
    events = lobby.subscribe()
    table = await lobby.run_command("/sessions", LINES)
    assert isinstance(table, Listing)
    first, second = table.rows()
    assert first.cells[0] == "needs you"
    assert "Run make?" in first.cells[-1]
    assert second.cells[0] == "working"
    [attach, reply, _] = table.acts
    assert await attach.run(second.id) == Switch(attach=second.id)
    draft = await reply.run(second.id)
    assert isinstance(draft, Draft)
    assert draft.text == f"/reply {second.id[:13]} "
    lobby.submit("Hello?")
    assert [each.event for each in events.waiting()] == [InputRefused(text="Hello?", reason=CHOOSE)]
    assert await lobby.run_command("/exit", LINES) == Quit()
    with pytest.raises(GatewrightError, match="No background session"):
        visit.find("nobody")
    await lobby.close()
