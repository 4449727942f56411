"""How hooks reach out besides starting programs: posts to addresses, questions to a model."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Callable, Mapping

from gatewright.agent.errors import FailureKind, ProviderError
from gatewright.agent.extensions.host import Host
from gatewright.agent.hooks.kinds.running import KEPT
from gatewright.agent.models.short_answer import short_answer
from gatewright.agent.providers.transport.dial import anywhere
from gatewright.agent.providers.transport.http import DirectTransport
from gatewright.tools.web.address import kind_of

MOST = 1_000  # tokens of an answer


def public(address: str) -> bool:
    try:
        return kind_of(ipaddress.ip_address(address.partition("%")[0])) == "public"
    except ValueError:
        return False


class Posts:
    def __init__(self, env: Callable[[], Mapping[str, str]]) -> None:
        self._env = env

    async def __call__(
        self, url: str, headers: Mapping[str, str], body: bytes, only_public: bool
    ) -> tuple[int, bytes]:
        """Status and body; no redirect is followed. Raises ProviderError."""
        admits = public if only_public else anywhere
        transport = DirectTransport(self._env(), admits=admits)
        try:
            async with transport.send(url, headers, body) as answer:
                kept = bytearray()
                async for chunk in answer.chunks():
                    kept += chunk
                    if len(kept) > KEPT:
                        break
                return answer.status, bytes(kept)
        finally:
            await transport.close()


class Ways:
    def __init__(self, host: Host) -> None:
        self._host = host

    async def asks(self, system: str, text: str, seconds: float, model: str) -> str:
        """The text of one answer. Raises GatewrightError."""
        host = self._host
        if model:
            opened = await asyncio.to_thread(host.open_model, model, "")
        else:
            opened = await asyncio.to_thread(host.small_model)
        try:
            return await short_answer(opened, system, text, max_output=MOST, seconds=seconds)
        except TimeoutError:
            text = f"The model did not answer within {seconds:g} s."
            raise ProviderError(FailureKind.TRANSPORT, text) from None
        finally:
            await opened.provider.close()
