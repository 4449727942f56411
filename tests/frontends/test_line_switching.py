"""Going over to another session line by line: what happened in the old one stands before it."""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
from collections.abc import Sequence

from gatewright.agent.client.port import SessionClient
from gatewright.agent.commands.outcome import Outcome, Switch
from gatewright.agent.commands.registry import CommandContext
from gatewright.agent.frontends.line import Conversation, Ports
from gatewright.agent.frontends.reader import LineReader
from gatewright.agent.record.events import Noticed, TasksChanged
from gatewright.tui.sanitize import stripped
from gatewright.tui.session_calls import remembered
from gatewright.tui.shell import OwnShell
from tests.fakes.commands import add_command
from tests.fakes.fake_session import FakeSession
from tests.fakes.waiting import PATIENCE


async def _resume(context: CommandContext) -> Outcome:
    return Switch(path=context.args)


async def talk(typed: Sequence[str], first: FakeSession, other: FakeSession) -> str:
    """All that is printed while these lines are typed."""

    async def others(to: Switch) -> SessionClient:
        assert to.path == "other"
        first.publish(TasksChanged(running=("shell_1: x",)), Noticed(text="of the old one"))
        return other.facade()

    read, write = os.pipe()
    os.write(write, "".join(f"{line}\n" for line in typed).encode())
    out = io.StringIO()
    ports = Ports(stripped, remembered, OwnShell(), others)
    running = asyncio.create_task(
        Conversation(first.facade(), out, LineReader(read), ports).run("")
    )
    os.close(write)
    async with asyncio.timeout(PATIENCE):
        await running
    with contextlib.suppress(OSError):
        os.close(read)
    return out.getvalue()


async def test_the_last_of_the_old_session_comes_first_and_nothing_of_it_stays() -> None:
    first, other = FakeSession(), FakeSession()
    for session in (first, other):
        add_command(session.commands, "resume", _resume)
    other.publish(Noticed(text="of the new one"))
    text = await talk(["/resume other", "/resume other"], first, other)
    assert text.index("of the old one") < text.index("of the new one")
    assert "would be stopped" not in text, "nothing runs in the new one"
