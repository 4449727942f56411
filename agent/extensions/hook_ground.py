"""Where hooks run: their environment, the addresses they post to, and what a check looks at."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping

from gatewright.agent.hooks.events import Kind
from gatewright.agent.hooks.kinds.posting import Poster, PostPorts
from gatewright.agent.hooks.kinds.running import KEPT
from gatewright.agent.hooks.shown.checks import Ground
from gatewright.agent.providers.transport.dial import anywhere
from gatewright.agent.providers.transport.http import DirectTransport
from gatewright.agent.settings.workspace import Surroundings
from gatewright.tools.shell.environment import child_environment
from gatewright.tools.system.addresses import kind_of


def environment(around: Surroundings, *, scrubbed: bool) -> Mapping[str, str]:
    """What a hook finds; less of it where a stranger may have written the hook."""
    return child_environment(around.env, around.secrets) if scrubbed else around.env


def ground(around: Surroundings, kinds: frozenset[Kind]) -> Ground:
    return Ground(
        root=around.where.cwd,
        home=around.where.home,
        env=around.env,
        urls=around.settings.allowed_http_hook_urls,
        kinds=kinds,
    )


def poster(around: Callable[[], Surroundings]) -> Poster:
    ports = PostPorts(
        post=Posts(lambda: around().env),
        env=lambda scrubbed: environment(around(), scrubbed=scrubbed),
        urls=lambda: around().settings.allowed_http_hook_urls,
        variables=lambda: around().settings.http_hook_allowed_env_vars,
    )
    return Poster(ports)


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
