"""Logging in from a session and from a terminal, and where the secrets of it are afterwards."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator
from pathlib import Path

import httpx2
import pytest

from gatewright.agent.record.events import Noticed
from tests.e2e.program import Program
from tests.fakes.login_server import LoginServer
from tests.fakes.waiting import PATIENCE
from tests.mcp.test_login import serving
from tests.mcp.test_remote import served
from tests.mcp.test_session import become, told
from tests.permissions.composed import desk

_PAGE = re.compile(r"http://127\.0\.0\.1:\d+/authorize\?\S+")


@pytest.fixture
async def server() -> AsyncGenerator[LoginServer]:
    async with serving(LoginServer(served().streamable_http_app())) as made:
        yield made


def holding(folder: Path, secrets: set[str]) -> set[str]:
    """Names of the files in which one of these stands."""
    return {
        path.name
        for path in folder.rglob("*")
        if path.is_file() and any(each.encode() in path.read_bytes() for each in secrets)
    }


async def ended_at(page: str) -> str:
    """The address that a browser of another machine stays at."""
    async with httpx2.AsyncClient(trust_env=False, verify=False) as browser:
        return str((await browser.get(page)).headers["location"])


async def test_in_a_session(server: LoginServer, tmp_path: Path) -> None:
    own = {
        "mcpServers": {"fake": {"type": "http", "url": f"{server.url}/mcp"}},
        "permissions": {"allow": ["mcp__fake"]},
    }
    script = ['call[c1]: mcp__fake__add {"a": 1, "b": 2}', "say: done", "say: more"]
    async with desk(tmp_path, script, own=own) as made:
        await become(made, "fake", "needs-auth")
        await made.seen.until(Noticed, where=lambda n: "or /mcp login fake" in n.text)
        shown = await told(made, "/mcp login fake")
        page = _PAGE.search(shown)
        assert page is not None, shown
        assert "No login at fake is waited for" not in shown
        back = await ended_at(page[0])
        assert "not the address" in await told(made, f"/mcp login fake {back}&state=x")
        assert await told(made, f"/mcp login fake {back}") == "Logging in at fake."
        await become(made, "fake", "connected")
        made.session.submit("go")
        assert await made.finished("c1") == "3"
        await made.ended()
        kept = (tmp_path / "home" / ".gatewright" / "state" / "logins.json").read_text("utf-8")
        tokens = {*server.access, *server.renewing}
        assert tokens
        assert holding(tmp_path, tokens) == {"logins.json"}
        assert "is forgotten" in await told(made, "/mcp logout fake")
        assert not set(server.renewing)
        assert holding(tmp_path, tokens) == set()
        assert "There is no login" in await told(made, "/mcp logout fake")
        await told(made, "/mcp reconnect fake")
        await become(made, "fake", "needs-auth")
        (entry,) = json.loads(kept).values()
        token = json.loads(entry["key"])["access"]
        server.access[token] = "read"
        (tmp_path / "home" / ".gatewright" / "state" / "logins.json").write_text(kept, "utf-8")
        made.session.submit("more")
        await become(made, "fake", "connected")
        await made.ended(2)


@pytest.mark.e2e
async def test_in_a_terminal_without_a_browser(server: LoginServer, program: Program) -> None:
    own = {"mcpServers": {"far": {"type": "http", "url": f"{server.url}/mcp"}}}
    (program.home / ".gatewright" / "settings.json").write_text(json.dumps(own), "utf-8")
    running = await asyncio.create_subprocess_exec(
        *program.argv, "mcp", "login", "far", "--no-browser", cwd=program.project,
        env=program.env(), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    assert running.stdin is not None
    assert running.stdout is not None
    async with asyncio.timeout(PATIENCE):
        said = ""
        while (page := _PAGE.search(said)) is None:
            line = await running.stdout.readline()
            assert line, said
            said += line.decode()
        running.stdin.write(f"{await ended_at(page[0])}\n".encode())
        rest = (await running.stdout.read()).decode()
        assert await running.wait() == 0, rest
    assert "You are logged in at far" in rest
    tokens = {*server.access, *server.renewing}
    assert holding(program.home, tokens) == {"logins.json"}
    left = await asyncio.to_thread(program.run, "mcp", "logout", "far")
    assert "is forgotten" in left.stdout
    assert not set(server.renewing)
