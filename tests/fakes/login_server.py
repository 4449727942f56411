"""A server behind a login, and the login server itself: honest, unless it is told how to lie.

Both are one web application on loopback: `/mcp` wants a token, the rest hands tokens out. What it
was asked is kept, so that a test can say what was never sent.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, unquote, urlencode

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

Scope: TypeAlias = MutableMapping[str, Any]
Inner: TypeAlias = Callable[[Scope, Any, Any], Awaitable[None]]
SERVER = "/.well-known/oauth-authorization-server"
RESOURCE = "/.well-known/oauth-protected-resource/mcp"


class LoginServer:
    """`inner` answers at /mcp whoever has a token. The address is known once it listens."""

    def __init__(self, inner: Inner | None = None) -> None:
        self.inner = inner
        self.url = ""
        self.about: dict[str, Any] = {}  # what it says of itself, in place of the truth
        self.resource: dict[str, Any] = {}  # the same of what it protects
        self.answers: dict[str, Callable[[Request], Response]] = {}  # in place of its own, by path
        self.wants = "read"  # the scope that /mcp wants
        self.open = b""  # what a request holds that needs no token
        self.challenge = ""  # a WWW-Authenticate of ours
        self.expires = 3600
        self.rotates = True
        self.secret = ""  # of every client; empty for public ones
        self.issuer: str | None = ""  # in the answer of a login; empty is the truth, None nothing
        self.asked: list[tuple[str, dict[str, str]]] = []  # path, and what came along
        self.clients: dict[str, list[str]] = {}
        self.codes: dict[str, dict[str, str]] = {}
        self.access: dict[str, str] = {}  # token -> scope
        self.renewing: dict[str, str] = {}
        self.spent: list[str] = []  # tokens for renewal that came a second time
        self.count = 0

    def paths(self) -> list[str]:
        return [path for path, _ in self.asked]

    def sent(self, path: str) -> dict[str, str]:
        """What came along to that path the last time."""
        return next(given for at, given in reversed(self.asked) if at == path)

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan" and self.inner is not None:
            await self.inner(scope, receive, send)
            return
        if scope["type"] != "http":
            await _no_lifespan(receive, send)
            return
        request = Request(scope, receive)
        path = request.url.path
        if path == "/mcp":
            self.asked.append((path, dict(request.headers)))
            came = await request.body()
            receive = _again(came, receive)
            free = self.open and self.open in came
            refused = None if free else self._refused(request)
            if refused is None and self.inner is not None:
                await self.inner(scope, receive, send)
                return
            await (refused or Response(status_code=200))(scope, receive, send)
            return
        text = (await request.body()).decode()
        form: dict[str, str] = (
            dict(parse_qsl(text)) if "urlencoded" in _kind(request) else {"body": text}
        )
        given = {**dict(request.query_params), **form}
        self.asked.append((path, {**given, **_basic(request)}))
        own = self.answers.get(path)
        answer = own(request) if own is not None else self._answer(path, self.asked[-1][1])
        await answer(scope, receive, send)

    def _refused(self, request: Request) -> Response | None:
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        if token not in self.access:
            header = f'Bearer resource_metadata="{self.url}{RESOURCE}"'
            header += f', scope="{self.wants}"' if self.wants else ""
            return Response(status_code=401, headers={"WWW-Authenticate": self.challenge or header})
        if self.wants not in self.access[token].split() and self.wants:
            header = f'Bearer error="insufficient_scope", scope="{self.wants}"'
            return Response(status_code=403, headers={"WWW-Authenticate": header})
        return None

    def _answer(self, path: str, given: dict[str, str]) -> Response:
        match path:
            case "/.well-known/oauth-protected-resource/mcp":
                said = {"resource": f"{self.url}/mcp", "authorization_servers": [self.url]}
                return JSONResponse({**said, **self.resource})
            case "/.well-known/oauth-authorization-server":
                return JSONResponse({**self._about(), **self.about})
            case "/register":
                return self._registered(json.loads(given["body"]))
            case "/authorize":
                return self._authorized(given)
            case "/token":
                return self._token(given)
            case "/revoke":
                self.access.pop(given["token"], None)
                self.renewing.pop(given["token"], None)
                return Response(status_code=200)
            case _:
                return Response(status_code=404)

    def _about(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "registration_endpoint": f"{self.url}/register",
            "revocation_endpoint": f"{self.url}/revoke",
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none", "client_secret_basic"],
            "scopes_supported": ["read", "write", "offline_access"],
            "authorization_response_iss_parameter_supported": self.issuer is not None,
        }

    def _registered(self, asked: dict[str, Any]) -> Response:
        self.count += 1
        name = f"client-{self.count}"
        self.clients[name] = asked["redirect_uris"]
        said = {**asked, "client_id": name}
        if self.secret:
            said |= {
                "client_secret": self.secret,
                "token_endpoint_auth_method": "client_secret_basic",
            }
        return JSONResponse(said, status_code=201)

    def _authorized(self, given: dict[str, str]) -> Response:
        self.count += 1
        code = f"code-{self.count}"
        self.codes[code] = given
        back = {"code": code, "state": given["state"]}
        if self.issuer is not None:
            back["iss"] = self.issuer or self.url
        return RedirectResponse(f"{given['redirect_uri']}?{urlencode(back)}", status_code=302)

    def _token(self, given: dict[str, str]) -> Response:
        if self.secret and given.get("client_secret") != self.secret:
            return JSONResponse({"error": "invalid_client"}, status_code=401)
        if given["grant_type"] == "refresh_token":
            token = given["refresh_token"]
            if token not in self.renewing:
                self.spent.append(token)
                return JSONResponse({"error": "invalid_grant"}, status_code=400)
            scope = self.renewing.pop(token) if self.rotates else self.renewing[token]
            return self._handed_out(scope)
        asked = self.codes.pop(given["code"], None)
        if asked is None or asked["redirect_uri"] != given["redirect_uri"]:
            return JSONResponse({"error": "invalid_grant"}, status_code=400)
        digest = hashlib.sha256(given["code_verifier"].encode()).digest()
        if base64.urlsafe_b64encode(digest).decode().rstrip("=") != asked["code_challenge"]:
            return JSONResponse({"error": "invalid_grant"}, status_code=400)
        return self._handed_out(asked.get("scope", ""))

    def _handed_out(self, scope: str) -> Response:
        self.count += 1
        access, renewing = f"access-token-{self.count}", f"refresh-token-{self.count}"
        self.access[access] = scope
        self.renewing[renewing] = scope
        return JSONResponse(
            {
                "access_token": access,
                "token_type": "bearer",
                "expires_in": self.expires,
                "refresh_token": renewing,
                "scope": scope,
            }
        )


def _kind(request: Request) -> str:
    return request.headers.get("content-type", "")


def _basic(request: Request) -> dict[str, str]:
    scheme, _, word = request.headers.get("authorization", "").partition(" ")
    if scheme != "Basic":
        return {}
    name, _, secret = base64.b64decode(word).decode().partition(":")
    return {"client_id": unquote(name), "client_secret": unquote(secret)}


def _again(body: bytes, receive: Any) -> Any:
    """What was read, to be read once more."""
    left = [{"type": "http.request", "body": body, "more_body": False}]

    async def read() -> Any:
        return left.pop() if left else await receive()

    return read


async def _no_lifespan(receive: Any, send: Any) -> None:
    while (message := await receive())["type"] != "lifespan.shutdown":
        await send({"type": f"{message['type']}.complete"})
    await send({"type": "lifespan.shutdown.complete"})
