"""Logging in at a server, against a login server of ours: the steps, the people, and the liars."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from gatewright.mcp.definitions import OAuth
from gatewright.mcp.oauth.callback import Callback
from gatewright.mcp.oauth.desk import Desk, Wanted
from gatewright.mcp.oauth.errors import LoginFailed
from gatewright.mcp.oauth.grant import Grant, name_of
from gatewright.mcp.oauth.logins import Login
from gatewright.mcp.oauth.renewal import given_back
from gatewright.mcp.talk.login import log_in
from tests.fakes.login_server import RESOURCE, SERVER, LoginServer
from tests.mcp.test_remote import running


class Shelf:
    """Where logins are kept in a test."""

    def __init__(self) -> None:
        self.kept: dict[str, str] = {}

    def find(self, name: str) -> str:
        return self.kept.get(name, "")

    def put(self, name: str, text: str) -> None:
        self.kept[name] = text

    def drop(self, name: str) -> bool:
        return self.kept.pop(name, None) is not None


class Person:
    """Opens the page as a browser does, and answers what is asked."""

    def __init__(self, tmp_path: Path) -> None:
        self.shelf = Shelf()
        self.folder = tmp_path
        self.pages: list[str] = []
        self.questions: list[str] = []
        self.says = True
        self.opens: Callable[[str, Callback], Any] = self._browse

    def login(self, server: LoginServer, client: str = "", **more: Any) -> Login:
        return Login(name_of(f"{server.url}/mcp", client), self.shelf, self.folder, **more)

    async def logs_in(self, server: LoginServer, **more: Any) -> Grant:
        wanted = Wanted(url=f"{server.url}/mcp", **more)
        client = wanted.oauth.client_id
        return await log_in(
            wanted, self.login(server, client), Desk(sure=self._sure, show=self._show)
        )

    async def _show(self, page: str, callback: Callback) -> None:
        self.pages.append(page)
        await self.opens(page, callback)

    async def _sure(self, question: str) -> bool:
        self.questions.append(question)
        return self.says

    async def _browse(self, page: str, callback: Callback) -> None:
        del callback
        async with httpx2.AsyncClient(
            follow_redirects=True, trust_env=False, verify=False
        ) as browser:
            await browser.get(page)


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path)


@asynccontextmanager
async def serving(server: LoginServer | None = None) -> AsyncGenerator[LoginServer]:
    made = server or LoginServer()
    async with running(made) as url:
        made.url = url
        yield made


@pytest.fixture
async def server() -> AsyncGenerator[LoginServer]:
    async with serving() as made:
        yield made


async def test_all_steps(server: LoginServer, person: Person) -> None:
    grant = await person.logs_in(server)
    assert grant.access in server.access
    assert (grant.issuer, grant.resource, grant.scope) == (
        server.url, f"{server.url}/mcp", "read offline_access",
    )  # fmt: skip
    assert server.paths() == ["/mcp", RESOURCE, SERVER, "/register", "/authorize", "/token"]
    registered = json.loads(server.sent("/register")["body"])
    assert (registered["application_type"], registered["token_endpoint_auth_method"]) == (
        "native", "none",
    )  # fmt: skip
    asked = server.sent("/authorize")
    assert asked["code_challenge_method"] == "S256"
    assert asked["resource"] == server.sent("/token")["resource"] == f"{server.url}/mcp"
    kept = await person.login(server).kept()
    assert kept == grant
    assert person.questions == []


async def test_what_is_written_down_counts(server: LoginServer, person: Person) -> None:
    oauth = OAuth(client_id="ours", scopes=("write",))
    await person.login(server, "ours").keep(
        Grant(resource="x", client_id="ours", client_secret="s3cret-of-us")
    )
    server.secret = "s3cret-of-us"
    grant = await person.logs_in(server, oauth=oauth)
    assert "/register" not in server.paths()
    assert server.sent("/token")["client_secret"] == "s3cret-of-us"
    assert (grant.client_id, grant.scope) == ("ours", "write offline_access")
    assert await person.login(server, "ours").other_than(grant.access) in server.access


async def test_a_document_about_us_is_our_name(server: LoginServer, person: Person) -> None:
    document = "https://example.com/gatewright.json"
    await person.logs_in(server, metadata_url=document)
    assert "/register" in server.paths(), "where it is not read a client is registered"
    server.about = {"client_id_metadata_document_supported": True}
    grant = await person.logs_in(server, metadata_url=document)
    assert grant.client_id == server.sent("/token")["client_id"] == document


async def test_a_description_elsewhere_overrides(person: Person) -> None:
    async with serving() as server, serving() as other:
        oauth = OAuth(auth_server_metadata_url=f"{other.url}{SERVER}")
        grant = await person.logs_in(server, oauth=oauth)
        assert (grant.issuer, server.paths()) == (other.url, ["/mcp"])
        other.about = {"issuer": server.url}
        with pytest.raises(LoginFailed, match="another login server"):
            await person.logs_in(server, oauth=oauth)


async def test_more_rights_are_asked_for_besides_those_one_has(
    server: LoginServer, person: Person
) -> None:
    await person.logs_in(server)
    grant = await person.logs_in(
        server, challenge='Bearer error="insufficient_scope", scope="write"'
    )
    assert set(grant.scope.split()) == {"read", "write", "offline_access"}


async def test_the_address_is_pasted_where_no_browser_comes_back(
    server: LoginServer, person: Person
) -> None:
    async def elsewhere(page: str, callback: Callback) -> None:
        async with httpx2.AsyncClient(trust_env=False, verify=False) as browser:
            answer = await browser.get(page)
        back = answer.headers["location"]
        for wrong in ("", "nothing", back.replace("state=", "state=x"), page):
            with pytest.raises(LoginFailed, match="not the address"):
                callback.pasted(wrong)
        callback.pasted(f"  {back}\n")

    person.opens = elsewhere
    assert (await person.logs_in(server)).access in server.access


class TestComingBack:
    async def test_only_the_answer_to_this_login_counts(
        self, server: LoginServer, person: Person
    ) -> None:
        seen: list[int] = []

        async def attacked(page: str, callback: Callback) -> None:
            state = parse_qs(urlsplit(page).query)["state"][0]
            async with httpx2.AsyncClient(trust_env=False, verify=False) as browser:
                answers = [
                    await browser.get(callback.address + wrong)
                    for wrong in (
                        "?code=theirs&state=guess",
                        "?code=theirs",
                        f"?state={state}",
                        "",
                        f"?code=theirs&state={state}&state=x",
                        f"/../?code=a&state={state}",
                    )
                ]
                theirs = f"{callback.address}?code=theirs&state={state}"
                answers.append(await browser.get(theirs, headers={"Host": "evil.test"}))
                seen.extend(answer.status_code for answer in answers)
                await browser.get(page, follow_redirects=True)

        person.opens = attacked
        assert (await person.logs_in(server)).access in server.access
        assert set(seen) <= {400, 404}

    async def test_a_refusal_is_said(self, server: LoginServer, person: Person) -> None:
        async def refused(page: str, callback: Callback) -> None:
            state = parse_qs(urlsplit(page).query)["state"][0]
            words = "error=access_denied&error_description=no%1b[2J"
            async with httpx2.AsyncClient(trust_env=False, verify=False) as browser:
                answer = await browser.get(f"{callback.address}?{words}&state={state}")
            assert "\x1b" not in answer.text

        person.opens = refused
        with pytest.raises(LoginFailed, match=r"refused: access_denied: no<U\+001B>"):
            await person.logs_in(server)

    async def test_nobody_comes(
        self, server: LoginServer, person: Person, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("gatewright.mcp.talk.login.PATIENCE", 0.05)

        async def nothing(page: str, callback: Callback) -> None:
            del page, callback

        person.opens = nothing
        with pytest.raises(LoginFailed, match="nobody logged in"):
            await person.logs_in(server)


class TestLiars:
    """Nothing is opened, and nobody elsewhere is asked."""

    @pytest.mark.parametrize(
        ("about", "why"),
        [
            ({"code_challenge_methods_supported": ["plain"]}, "PKCE"),
            ({"code_challenge_methods_supported": None}, "PKCE"),
            ({"issuer": "https://other.example"}, "mismatch"),
            ({"token_endpoint": "http://169.254.169.254/token"}, "credentials"),
            ({"authorization_endpoint": "javascript:alert(1)"}, "says nothing of how to log in"),
            ({"authorization_endpoint": "http://metadata.google.internal/a"}, "credentials"),
            ({"registration_endpoint": "http://169.254.169.254/r"}, "credentials"),
            ({"registration_endpoint": None}, "no new clients"),
        ],
    )
    async def test_what_a_login_server_says_of_itself(
        self, server: LoginServer, person: Person, about: dict[str, Any], why: str
    ) -> None:
        server.about = about
        with pytest.raises(LoginFailed, match=why):
            await person.logs_in(server)
        assert "/token" not in server.paths()
        assert person.shelf.kept == {}

    @pytest.mark.parametrize(
        ("resource", "why"),
        [
            ({"resource": "https://other.example/mcp"}, "does not match"),
            ({"authorization_servers": ["http://169.254.169.254/"]}, "credentials"),
        ],
    )
    async def test_what_a_server_says_of_its_logins(
        self, server: LoginServer, person: Person, resource: dict[str, Any], why: str
    ) -> None:
        server.resource = resource
        with pytest.raises(LoginFailed, match=why):
            await person.logs_in(server)
        assert person.pages == []

    @pytest.mark.parametrize("path", [RESOURCE, SERVER, "/register", "/token"])
    async def test_an_answer_without_an_end(
        self, server: LoginServer, person: Person, path: str
    ) -> None:
        server.answers[path] = lambda request: Response(b" " * (2 * 1024 * 1024))
        with pytest.raises(LoginFailed, match="more than 1 MiB"):
            await person.logs_in(server)

    @pytest.mark.parametrize("path", [SERVER, "/register", "/token"])
    async def test_a_way_elsewhere_is_not_gone(self, person: Person, path: str) -> None:
        async with serving() as server, serving() as other:
            away = f"{other.url}{path}"
            server.answers[path] = lambda request: RedirectResponse(away, status_code=307)
            with pytest.raises(LoginFailed):
                await person.logs_in(server)
            assert other.asked == []

    async def test_a_login_server_that_is_down(self, server: LoginServer, person: Person) -> None:
        server.answers[SERVER] = lambda request: Response(status_code=503)
        with pytest.raises(LoginFailed, match="HTTP 503"):
            await person.logs_in(server)
        assert "/register" not in server.paths()

    async def test_a_code_of_another_issuer(self, server: LoginServer, person: Person) -> None:
        server.issuer = "https://honest.example"
        with pytest.raises(LoginFailed, match="iss mismatch"):
            await person.logs_in(server)
        assert "/token" not in server.paths()

    async def test_who_gets_the_login_is_asked_where_it_is_another_than_the_page(
        self, person: Person
    ) -> None:
        async with serving() as server:
            server.issuer = None
            port = urlsplit(server.url).port
            server.about = {"token_endpoint": f"http://localhost:{port}/token"}
            person.says = False
            with pytest.raises(LoginFailed, match="not gone on with"):
                await person.logs_in(server)
            assert person.pages == []
            assert "localhost would get the login" in person.questions[0]
            person.says = True
            assert (await person.logs_in(server)).token_url.startswith("http://localhost")

    @pytest.mark.parametrize(
        "said",
        [
            {"access_token": "a\r\nX-Evil: 1"}, {"access_token": 3}, {"access_token": ""}, [],
            {"access_token": "ok", "token_type": "mac"}, {"access_token": "x" * 100_000},
        ],
    )  # fmt: skip
    async def test_what_is_no_token(self, server: LoginServer, person: Person, said: Any) -> None:
        server.answers["/token"] = lambda request: JSONResponse(said)
        with pytest.raises(LoginFailed, match="no token that can be used"):
            await person.logs_in(server)
        assert person.shelf.kept == {}

    async def test_nothing_of_the_definition_goes_along(
        self, server: LoginServer, person: Person
    ) -> None:
        keys: list[str] = []

        def spied(request: Request) -> Response:
            keys.append(request.headers.get("x-key", ""))
            return Response(status_code=404)

        server.answers = dict.fromkeys((RESOURCE, SERVER, "/register"), spied)
        with pytest.raises(LoginFailed):
            await person.logs_in(server, headers={"X-Key": "s3cret"})
        assert set(keys) == {""}
        assert server.sent("/mcp")["x-key"] == "s3cret"


class TestRenewal:
    async def test_it_is_renewed_before_its_end_and_by_one_of_many(
        self, server: LoginServer, person: Person
    ) -> None:
        server.expires = 30
        first = await person.logs_in(server)
        server.expires = 3600
        many = [person.login(server) for _ in range(8)]
        tokens = await asyncio.gather(*(each.token() for each in many))
        assert set(tokens) & {first.access} == set()
        assert len(set(tokens)) == 1
        assert (server.spent, server.paths().count("/token")) == ([], 2)

    async def test_another_login_made_elsewhere_counts(
        self, server: LoginServer, person: Person
    ) -> None:
        ours = person.login(server)
        assert await ours.token() == ""
        grant = await person.logs_in(server)
        assert await ours.other_than("") == grant.access
        assert await ours.token() == grant.access

    async def test_a_login_that_is_over_is_dropped_and_the_client_kept(
        self, server: LoginServer, person: Person
    ) -> None:
        grant = await person.logs_in(server)
        server.renewing.clear()
        login = person.login(server)
        assert await login.other_than(grant.access) == ""
        kept = await login.kept()
        assert kept is not None
        assert (kept.access, kept.refresh, kept.client_id) == ("", "", grant.client_id)

    @pytest.mark.parametrize("status", [429, 500, 400])
    async def test_what_passes_takes_nothing_away(
        self, server: LoginServer, person: Person, status: int
    ) -> None:
        grant = await person.logs_in(server)
        server.answers["/token"] = lambda request: Response(status_code=status)
        login = person.login(server)
        with pytest.raises(LoginFailed, match=f"HTTP {status}"):
            await login.other_than(grant.access)
        assert await login.kept() == grant

    async def test_many_that_are_refused_ask_once_for_a_while(
        self, server: LoginServer, person: Person
    ) -> None:
        now = [1e9]
        login = person.login(server, clock=lambda: now[0])
        grant = await person.logs_in(server)
        server.answers["/token"] = lambda request: Response(status_code=500)
        before = server.paths().count("/token")
        many = [login.other_than(grant.access) for _ in range(10)]
        for failed in await asyncio.gather(*many, return_exceptions=True):
            assert isinstance(failed, LoginFailed)
        assert server.paths().count("/token") == before + 1
        del server.answers["/token"]
        now[0] += 31
        assert await login.other_than(grant.access) in server.access

    async def test_one_that_is_good_for_a_while_is_used_meanwhile(
        self, server: LoginServer, person: Person
    ) -> None:
        server.expires = 30
        grant = await person.logs_in(server)
        server.answers["/token"] = lambda request: Response(status_code=500)
        assert await person.login(server).token() == grant.access

    async def test_it_is_given_back(self, server: LoginServer, person: Person) -> None:
        grant = await person.logs_in(server)
        assert await given_back(grant) == ""
        assert server.sent("/revoke")["token"] == grant.refresh

    async def test_what_is_kept_and_is_none(self, server: LoginServer, person: Person) -> None:
        person.shelf.put(name_of(f"{server.url}/mcp", ""), '{"access": 3}')
        assert await person.login(server).token() == ""
