"""Headers that a program prints: at each connection, and once more when they are refused.

It is started like a server of the same source is, and what it prints is used and forgotten.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress

import httpx2
import msgspec

from gatewright.mcp.definitions import Definition
from gatewright.mcp.described import printable
from gatewright.mcp.errors import NotConnected
from gatewright.mcp.network.addresses import origin
from gatewright.mcp.surroundings import Around, environment
from gatewright.tools.protocol import SpawnRequest, ToolFailure
from gatewright.tools.system.processes import printed

SECONDS = 10.0
MOST = 64 * 1024
OWN_PLACE = ("user", "managed")  # of no project
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,200}")
_OURS = frozenset({"host", "content-length", "transfer-encoding", "connection", "content-type"})


class HeaderProgram:
    def __init__(self, definition: Definition, around: Around) -> None:
        self._spawn = around.confined(definition, {}) if around.confined else around.spawn
        own = around.own if definition.source in OWN_PLACE else None
        self._request = SpawnRequest(
            argv=("/bin/sh", "-c", definition.headers_helper),
            cwd=own or around.root,
            env=environment(definition, around),
            leaves=definition.source != "project",  # an agent that keeps a passphrase
            dies_with_us=True,  # its time is over with ours
        )

    async def headers(self) -> Mapping[str, str]:
        """Raises NotConnected."""
        try:
            code, out, err = await printed(
                self._request, seconds=SECONDS, keep=MOST + 1, start=self._spawn
            )
        except ToolFailure as failure:
            raise _failure(str(failure)) from failure
        if code is None:
            raise _failure(f"it took more than {SECONDS:.0f} s")
        if code:
            first = err.decode("utf-8", "replace").strip().partition("\n")[0]
            raise _failure(f"exit code {code}{f', {printable(first, 200)}' if first else ''}")
        return _read(out)


class PrintedHeaders(httpx2.Auth):
    """Puts them on what goes to the server, under what else lets it in."""

    def __init__(
        self, url: str, helper: HeaderProgram, headers: Mapping[str, str], inner: httpx2.Auth | None
    ) -> None:
        self._origin, self._helper = origin(url), helper
        self._headers, self._inner = headers, inner or httpx2.Auth()

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        if origin(str(request.url)) != self._origin:
            yield request
            return
        used = self._headers
        request.headers.update(used)
        flow = self._inner.async_auth_flow(request)
        response = yield await anext(flow)
        with suppress(StopAsyncIteration):
            while True:
                response = yield await flow.asend(response)
        if response.status_code in (401, 403) and await self._anew(used):
            request.headers.update(self._headers)
            yield request

    async def _anew(self, used: Mapping[str, str]) -> bool:
        """Whether there are others than those that were refused."""
        if self._headers is used:
            try:
                self._headers = await self._helper.headers()
            except NotConnected:
                return False
        return self._headers != used


def _read(out: bytes) -> Mapping[str, str]:
    if len(out) > MOST:
        raise _failure("it printed more than 64 KiB")
    try:
        found = msgspec.json.decode(out, type=dict[str, str])
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise _failure("it printed no JSON object of texts") from None
    for name, value in found.items():
        if not _NAME.fullmatch(name) or name.lower() in _OURS:
            raise _failure(f"it printed {printable(name, 60)!r}, which is no header it may set")
        if not (value.isascii() and value.isprintable()):
            raise _failure(f"it printed a value of {name} that no header can have")
    return found


def _failure(why: str) -> NotConnected:
    return NotConnected(f"its headersHelper gave no headers: {why}")
