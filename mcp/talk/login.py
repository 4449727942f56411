"""Logs in at a server: the SDK says what to ask next, and each step is judged and sent here.

Nothing is sent to an address that is not judged, a code is taken from nobody but the one who was
asked, and no text of an error holds a secret.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs, urljoin, urlsplit

import httpx2
import msgspec
from mcp.client.auth import (
    OAuthClientProvider,
    OAuthFlowError,
    OAuthRegistrationError,
    OAuthTokenError,
)
from mcp.client.auth.utils import is_valid_client_metadata_url
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
    TokenEndpointAuthMethod,
)
from pydantic import AnyUrl, ValidationError

from gatewright.mcp.described import printable
from gatewright.mcp.network.addresses import Depth, deeper, depth, origin, wrong_address
from gatewright.mcp.oauth.asking import Asking, shown
from gatewright.mcp.oauth.callback import Callback, listening
from gatewright.mcp.oauth.challenge import LONGEST, MORE, field, joined
from gatewright.mcp.oauth.desk import Desk, Wanted
from gatewright.mcp.oauth.errors import LoginFailed
from gatewright.mcp.oauth.grant import Grant, resource_of
from gatewright.mcp.oauth.logins import Login
from gatewright.mcp.oauth.renewal import json_object, strings, taken_in

PATIENCE = 300.0  # seconds for a person
VERSION = "2025-11-25"
NAME = "Gatewright"
_HELLO = {
    "jsonrpc": "2.0", "id": 0, "method": "initialize",
    "params": {
        "protocolVersion": VERSION, "capabilities": {},
        "clientInfo": {"name": "gatewright", "version": "1"},
    },
}  # fmt: skip
_SERVERS = ("/.well-known/oauth-authorization-server", "/.well-known/openid-configuration")
_CLIENT_WAYS: Sequence[TokenEndpointAuthMethod] = (
    "none", "client_secret_basic", "client_secret_post",
)  # fmt: skip


async def log_in(wanted: Wanted, login: Login, desk: Desk) -> Grant:
    """The login, kept. Raises LoginFailed."""
    if why := await wrong_address(wanted.url):
        raise LoginFailed(why)
    deepest = await depth(wanted.url)
    if wanted.own and (named := wanted.oauth.auth_server_metadata_url):
        deepest = deeper(deepest, await depth(named))
    async with listening(wanted.oauth.callback_port) as callback, Asking(deepest) as asking:
        steps = _Steps(wanted, await login.kept(), desk, callback, asking)
        grant = await steps.taken(deepest)
    await login.keep(grant)
    return grant


class _Store:
    """What the SDK is told of clients; what it learns of tokens is taken from the answer itself."""

    def __init__(self, client: OAuthClientInformationFull | None) -> None:
        self.client = client

    async def get_tokens(self) -> OAuthToken | None:
        return None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        del tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class _Steps:
    def __init__(
        self, wanted: Wanted, kept: Grant | None, desk: Desk, callback: Callback, asking: Asking
    ) -> None:
        self._wanted, self._kept, self._desk = wanted, kept, desk
        self._callback, self._asking = callback, asking
        self._token: Grant | None = None  # as it was handed out
        self._asked_once = False
        self._named: Mapping[str, Any] | None = None  # the login server, where it is written down
        self._store = _Store(self._client())
        url = wanted.oauth.client_metadata_url or wanted.metadata_url
        self._provider = OAuthClientProvider(
            server_url=resource_of(wanted.url),
            client_metadata=OAuthClientMetadata(
                redirect_uris=[AnyUrl(callback.address)], client_name=NAME
            ),
            storage=self._store,
            redirect_handler=self._show,
            callback_handler=self._answer,
            client_metadata_url=url if is_valid_client_metadata_url(url) else None,
        )

    def _client(self) -> OAuthClientInformationFull | None:
        """One that is known at the login server already."""
        own, kept = self._wanted.oauth.client_id, self._kept
        if own:
            secret = kept.client_secret if kept is not None and kept.client_id == own else ""
            return OAuthClientInformationFull(client_id=own, client_secret=secret or None)
        if kept is None or not kept.client_id or kept.redirect != self._callback.address:
            return None
        return OAuthClientInformationFull(
            client_id=kept.client_id,
            client_secret=kept.client_secret or None,
            token_endpoint_auth_method=kept.client_auth or None,
            issuer=kept.issuer,
        )

    async def taken(self, deepest: Depth) -> Grant:
        if override := self._wanted.oauth.auth_server_metadata_url:
            self._named = await self._metadata_at(override)
        try:
            await self._walk()
        except (OAuthFlowError, ValidationError) as error:
            raise LoginFailed(_sentence(error)) from None
        return self._grant(deepest)

    async def _walk(self) -> None:
        request = httpx2.Request(
            "POST", self._wanted.url, json=_HELLO,
            headers={
                "Accept": "application/json, text/event-stream",
                **self._wanted.headers,
                "MCP-Protocol-Version": VERSION,
            },
        )  # fmt: skip
        flow = self._provider.async_auth_flow(request)
        try:
            outgoing = await anext(flow)
            answer = await self._challenge(request)
            while True:
                outgoing = await flow.asend(answer)
                if outgoing is request:
                    return  # with a token on it: the connection tries that
                answer = await self._sent(outgoing)
        finally:
            await flow.aclose()

    async def _challenge(self, request: httpx2.Request) -> httpx2.Response:
        """What the server wants, with the rights that were written down or granted before."""
        header = self._wanted.challenge
        if not header:
            answer = await self._asking.begun(request)
            if answer.status_code in (401, 403):
                header = answer.headers.get("www-authenticate", "")[:LONGEST]
        granted = self._kept.scope if self._kept is not None else ""
        asked = field(header, "scope")
        more = field(header, "error") == MORE
        scope = self._wanted.oauth.scope or (joined(granted, asked) if more else asked)
        fields = {"resource_metadata": field(header, "resource_metadata"), "scope": scope}
        told = ", ".join(f'{k}="{v}"' for k, v in fields.items() if v and '"' not in v)
        return httpx2.Response(401, headers={"WWW-Authenticate": f"Bearer {told}"}, request=request)

    async def _sent(self, request: httpx2.Request) -> httpx2.Response:
        """One step of the flow."""
        if request.method == "GET":
            if self._named is not None:
                return self._as_written(request, self._named)
            answer = await self._asking.send(request)
            self._judge_server(request, answer)
            return answer
        answer = await self._asking.send(request)
        form = request.headers.get("content-type", "").startswith("application/x-www-form")
        if form and answer.status_code in (200, 201):
            self._token = taken_in(Grant(resource=""), json_object(answer.content), time.time())
            return httpx2.Response(200, json={"access_token": self._token.access}, request=request)
        return answer

    def _as_written(self, request: httpx2.Request, named: Mapping[str, Any]) -> httpx2.Response:
        """In place of what the server would say of its login: what the definition says."""
        first, self._asked_once = not self._asked_once, True
        resource = {
            "resource": resource_of(self._wanted.url),
            "authorization_servers": [named.get("issuer")],
        }
        return httpx2.Response(200, json=resource if first else named, request=request)

    async def _metadata_at(self, url: str) -> Mapping[str, Any]:
        request = httpx2.Request("GET", url)
        answer = await self._asking.send(request)
        said = json_object(answer.content)
        if answer.status_code != 200 or "token_endpoint" not in said:
            raise LoginFailed(f"{shown(url)} is no description of a login server")
        issuer = said.get("issuer")
        if not isinstance(issuer, str) or not _same_origin(issuer, url):
            raise LoginFailed(f"{shown(url)} describes another login server than its own")
        self._judge_server(request, answer)
        return said

    def _judge_server(self, request: httpx2.Request, answer: httpx2.Response) -> None:
        """Of a login server: whether it can be used, and how a client says who it is there."""
        said = json_object(answer.content if answer.status_code == 200 else b"")
        about = any(word in request.url.path for word in _SERVERS)
        if about and (answer.status_code >= 500 or answer.status_code == 429):
            raise LoginFailed(
                f"{shown(str(request.url))} answered with HTTP {answer.status_code}", later=True
            )
        if "token_endpoint" not in said or "authorization_endpoint" not in said:
            return
        if "S256" not in strings(said.get("code_challenge_methods_supported")):
            raise LoginFailed("its login server does not protect logins (PKCE with S256)")
        ways = strings(said.get("token_endpoint_auth_methods_supported"))
        metadata = self._provider.context.client_metadata
        metadata.token_endpoint_auth_method = next((w for w in _CLIENT_WAYS if w in ways), None)
        if self._store.client is not None and self._wanted.oauth.client_id:
            self._store.client.token_endpoint_auth_method = _own_way(ways, self._store.client)
        registers = said.get("registration_endpoint") or self._store.client is not None
        by_url = said.get("client_id_metadata_document_supported") is True
        if not registers and not (by_url and self._provider.context.client_metadata_url):
            raise LoginFailed(
                "its login server takes no new clients: register one there, and write its id "
                "into the definition (oauth.clientId)"
            )

    async def _show(self, page: str) -> None:
        """The page is known: it may be opened."""
        context = self._provider.context
        about = context.oauth_metadata
        if about is None and context.auth_server_url:
            raise LoginFailed(f"{shown(context.auth_server_url)} says nothing of how to log in")
        await self._asking.judge(page)
        pages = (page, self._token_url())
        here, there = (httpx2.URL(each).raw_host.decode("ascii") for each in pages)
        proves = about is not None and about.authorization_response_iss_parameter_supported
        if here != there and not proves:
            question = (
                f"The page is at {here}, and {there} would get the login. Go on only if you know "
                f"both, and that {there} belongs to it."
            )
            if not await self._desk.sure(question):
                raise LoginFailed("it was not gone on with")
        (state,) = parse_qs(urlsplit(page).query)["state"]
        self._callback.expect(state)
        await self._desk.show(page, self._callback)

    async def _answer(self) -> AuthorizationCodeResult:
        try:
            async with asyncio.timeout(PATIENCE):
                came = await self._callback.answer()
        except TimeoutError:
            raise LoginFailed("nobody logged in within 5 minutes") from None
        if came.error:
            raise LoginFailed(f"the login was refused: {came.error}")
        return AuthorizationCodeResult(code=came.code, state=came.state, iss=came.issuer)

    def _token_url(self) -> str:
        about = self._provider.context.oauth_metadata
        return str(about.token_endpoint) if about else urljoin(self._wanted.url, "/token")

    def _grant(self, deepest: Depth) -> Grant:
        context = self._provider.context
        client, about = context.client_info, context.oauth_metadata
        if client is None or self._token is None:
            raise LoginFailed("it led to no login")
        revoke = about.revocation_endpoint if about is not None else None
        return msgspec.structs.replace(
            self._token,
            resource=context.get_resource_url(),
            issuer=str(about.issuer) if about is not None else urljoin(self._wanted.url, "/"),
            client_id=client.client_id,
            client_secret=client.client_secret or "",
            client_auth=client.token_endpoint_auth_method or "",
            redirect=self._callback.address,
            token_url=self._token_url(),
            revoke_url=str(revoke) if revoke else "",
            deepest=deepest,
            scope=self._token.scope or context.client_metadata.scope or "",
        )


def _own_way(ways: Sequence[str], client: OAuthClientInformationFull) -> str:
    if not client.client_secret:
        return "none"
    return next((way for way in _CLIENT_WAYS[1:] if way in ways), _CLIENT_WAYS[1])


def _same_origin(one: str, other: str) -> bool:
    try:
        return origin(one) == origin(other)
    except ValueError:
        return False


def _sentence(error: Exception) -> str:
    """Why, without what a login server may have said of secrets."""
    match error:
        case OAuthRegistrationError() | OAuthTokenError():
            what = "registration" if isinstance(error, OAuthRegistrationError) else "code"
            found = re.search(r"\b[45]\d\d\b", str(error))
            return f"its login server took no {what}{f' (HTTP {found[0]})' if found else ''}"
        case OAuthFlowError():
            return printable(str(error), 300)
        case _:
            return "its login server answered with what is no answer of the protocol"
