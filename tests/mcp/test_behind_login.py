"""A server behind a login over its life: wanted, given, renewed, revoked, and asked for more."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.responses import Response

from gatewright.agent.extensions.servers.logins import logins
from gatewright.mcp.errors import NotConnected
from gatewright.mcp.network.addresses import wrong_lead
from gatewright.mcp.oauth.asking import Asking
from gatewright.mcp.oauth.bearer import Bearer
from gatewright.mcp.oauth.challenge import Refusal
from gatewright.mcp.oauth.errors import LoginFailed
from gatewright.mcp.oauth.grant import Grant, name_of
from gatewright.mcp.oauth.logins import Login
from gatewright.mcp.server import Server
from tests.fakes.login_server import LoginServer
from tests.mcp.test_login import Person, serving
from tests.mcp.test_login import person as person  # the fixture
from tests.mcp.test_remote import far, served
from tests.mcp.test_server import Bench, words
from tests.mcp.test_server import bench as bench  # the fixture


@pytest.fixture
async def server() -> AsyncGenerator[LoginServer]:
    async with serving(LoginServer(served().streamable_http_app())) as made:
        yield made


def behind(bench: Bench, server: LoginServer, person: Person, **more: Any) -> Server:
    def login(url: str, client: str) -> Login:
        return Login(name_of(url, client), person.shelf, person.folder)

    bench.login = login
    return far(bench, f"{server.url}/mcp", **more)


async def test_it_waits_for_a_login_and_takes_one_made_elsewhere(
    server: LoginServer, bench: Bench, person: Person
) -> None:
    made = behind(bench, server, person)
    for _ in range(3):
        with pytest.raises(NotConnected, match="wants a login"):
            await made.ready()
    states = [made.state]
    assert server.paths() == ["/mcp"], "who is not let in asks for nothing older, and not again"
    assert len(bench.told) == 1
    assert "agent mcp login fake" in bench.told[0]
    grant = await person.logs_in(server)
    await made.ready()
    states.append(made.state)
    assert states == ["needs-auth", "connected"]
    assert words(await bench.call(made, "add", a=1, b=2)) == "3"
    assert server.sent("/mcp")["authorization"] == f"Bearer {grant.access}"


async def test_whoever_says_hello_without_one_may_need_a_login_all_the_same(
    server: LoginServer, bench: Bench, person: Person
) -> None:
    server.open = b"server/discover"
    made = behind(bench, server, person)
    with pytest.raises(NotConnected, match="wants a login"):
        await made.ready()
    assert made.state == "needs-auth"
    assert made.wants.refusal is not None
    await person.logs_in(server, challenge=made.wants.refusal.header)
    await made.ready()
    assert "mcp__fake__add" in made.tools()


async def test_a_token_that_is_refused_is_renewed_once(
    server: LoginServer, bench: Bench, person: Person
) -> None:
    await person.logs_in(server)
    made = behind(bench, server, person)
    await made.ready()
    server.access.clear()
    assert words(await bench.call(made, "add", a=1, b=2)) == "3"
    assert server.paths().count("/token") == 2
    assert bench.told == []


async def test_a_login_that_was_taken_back_is_said_once(
    server: LoginServer, bench: Bench, person: Person
) -> None:
    await person.logs_in(server)
    made = behind(bench, server, person)
    await made.ready()
    server.access.clear()
    server.renewing.clear()
    result = await bench.call(made, "add", a=1, b=2)
    assert not result.ok
    assert "Only the person can log in" in words(result)
    assert made.state == "needs-auth"
    await bench.call(made, "add", a=1, b=2)
    assert len(bench.told) == 1


async def test_a_login_server_that_is_down_takes_no_login_away(
    server: LoginServer, bench: Bench, person: Person
) -> None:
    grant = await person.logs_in(server)
    server.access.clear()
    server.answers["/token"] = lambda request: Response(status_code=500)
    made = behind(bench, server, person)
    with pytest.raises(NotConnected, match="cannot be renewed now"):
        await made.ready()
    assert made.state == "failed"
    assert await person.login(server).kept() == grant


async def test_more_rights_are_wanted_and_the_server_stays(
    server: LoginServer, bench: Bench, person: Person
) -> None:
    await person.logs_in(server)
    made = behind(bench, server, person)
    await made.ready()
    server.wants = "write"
    result = await bench.call(made, "add", a=1, b=2)
    assert "wants a login that allows more (write)" in words(result)
    assert made.state == "connected"
    assert len(bench.told) == 1
    assert made.wants.refusal is not None
    grant = await person.logs_in(server, challenge=made.wants.refusal.header)
    assert {"read", "write"} <= set(grant.scope.split())
    assert words(await bench.call(made, "add", a=1, b=2)) == "3"


async def test_a_header_of_the_definition_is_the_login(
    server: LoginServer, bench: Bench, person: Person
) -> None:
    await person.logs_in(server)
    made = behind(bench, server, person, headers={"authorization": "Bearer mine"})
    with pytest.raises(NotConnected, match="refuses the Authorization of its definition"):
        await made.ready()
    assert made.state == "failed"
    assert server.sent("/mcp")["authorization"] == "Bearer mine"


@pytest.mark.parametrize(
    ("url", "goes"),
    [
        ("https://example.com/other", True), ("https://example.com:443/mcp", True),
        ("https://EXAMPLE.com./mcp", True), ("http://example.com/mcp", False),
        ("https://example.com:444/mcp", False), ("https://example.com.evil.test/mcp", False),
        ("https://example.com@evil.test/mcp", False), ("https://evil.test/example.com", False),
    ],
)  # fmt: skip
async def test_a_token_goes_to_its_server_alone(person: Person, url: str, goes: bool) -> None:
    name = name_of("https://example.com/mcp", "")
    login = Login(name, person.shelf, person.folder)
    await login.keep(Grant(resource="https://example.com/mcp", access="the-token"))
    bearer = Bearer("https://example.com/mcp", login, Refusal())
    sent = await anext(bearer.async_auth_flow(httpx2.Request("POST", url)))
    assert (sent.headers.get("authorization") == "Bearer the-token") is goes
    assert goes or "authorization" not in sent.headers


async def test_what_is_public_leads_into_no_network_of_ours() -> None:
    assert await wrong_lead("http://127.0.0.1/token", "loopback") == ""
    for deepest, url in [
        ("public", "http://127.0.0.1/token"), ("public", "https://10.0.0.1/"),
        ("public", "https://[::1]/"), ("private", "http://localhost/"),
        ("public", "https://[::ffff:10.0.0.1]/"), ("loopback", "http://169.254.169.254/"),
    ]:  # fmt: skip
        assert await wrong_lead(url, deepest) != "", url  # type: ignore[arg-type]


async def test_a_second_answer_of_the_name_server_does_not_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def fine(url: str, deepest: str) -> str:
        del url, deepest
        return ""

    monkeypatch.setattr("gatewright.mcp.oauth.asking.wrong_lead", fine)
    async with serving() as server, Asking("public") as asking:
        with pytest.raises(LoginFailed, match="not one to be followed"):
            await asking.send(httpx2.Request("GET", f"{server.url}/x"))
        assert server.asked == []


RENEWS = """
import asyncio, os, sys
from pathlib import Path
from gatewright.agent.extensions.servers.logins import logins
login = logins(os.environ, Path(sys.argv[1]))
print(asyncio.run(login(sys.argv[2], "").token()))
"""


async def test_five_processes_renew_it_once(tmp_path: Path, person: Person) -> None:
    env = {"HOME": str(tmp_path), "GATEWRIGHT_HOME": str(tmp_path / "own"), "PATH": ""}
    state = tmp_path / "own" / "state"
    async with serving() as server:
        server.expires = 30
        grant = await person.logs_in(server)
        url = f"{server.url}/mcp"
        await logins(env, state)(url, "").keep(grant)
        server.expires = 3600
        all = [
            await asyncio.create_subprocess_exec(
                sys.executable, "-c", RENEWS, str(state), url, env=env,
                stdout=asyncio.subprocess.PIPE,
            )
            for _ in range(5)
        ]  # fmt: skip
        said = {(await each.communicate())[0].decode().strip() for each in all}
        assert said == {max(server.access)}
        assert (server.spent, server.paths().count("/token")) == ([], 2)
    file = state / "logins.json"
    assert file.stat().st_mode & 0o077 == 0
    (entry,) = json.loads(file.read_text("utf-8")).values()
    assert entry["place"] == "file"
    assert [path.name for path in (state / "mcp").iterdir()] == []
