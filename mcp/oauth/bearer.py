"""Puts the token of a login on what is sent to its server, and on nothing else."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable

import httpx2

from gatewright.mcp.network.addresses import origin
from gatewright.mcp.oauth.challenge import Refusal
from gatewright.mcp.oauth.errors import LoginFailed
from gatewright.mcp.oauth.logins import Login

NAME = "Authorization"


class Bearer(httpx2.Auth):
    """`refusal` learns of what the server said last when it took no token."""

    requires_response_body = False  # an answer may be a stream without an end

    def __init__(self, url: str, login: Login, refusal: Refusal) -> None:
        self._origin, self._login, self._refusal = origin(url), login, refusal

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        if origin(str(request.url)) != self._origin:
            yield request
            return
        refusal = self._refusal
        refusal.why = ""
        token = await self._asked(self._login.token())
        if token:
            request.headers[NAME] = f"Bearer {token}"
        response = yield request
        if response.status_code in (401, 403):  # a login made elsewhere counts from now on
            renew = response.status_code == 401
            other = await self._asked(self._login.other_than(token, renew=renew))
            if other:
                token = other
                request.headers[NAME] = f"Bearer {token}"
                response = yield request
        if response.status_code in (401, 403):
            said = response.headers.get("www-authenticate", "")
            refusal.heard(response.status_code, said, token)

    async def _asked(self, asking: Awaitable[str]) -> str:
        try:
            return await asking
        except LoginFailed as failed:
            self._refusal.why = str(failed)
            return ""
