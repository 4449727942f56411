"""Agents share a provider: opened once, closed by the last; server and key are counted as one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

from gatewright.agent.providers.limiter import AT_ONCE
from gatewright.agent.providers.presets import endpoint
from gatewright.agent.providers.protocol import Finished, Piece, Provider, Request, StopReason
from gatewright.agent.providers.registry import open_provider
from gatewright.agent.providers.settings import ProviderSettings
from gatewright.agent.providers.shared import Identity, SharedProviders
from tests.fakes.waiting import eventually

REQUEST = Request(model="m", system=(), tools=(), turns=(), max_output=10)


def asks(url: str = "http://127.0.0.1:1", most: int = 0, **headers: str) -> Identity:
    own = ProviderSettings(type="openai", base_url=url, headers=headers, max_concurrent=most)
    return Identity(endpoint("x", {"x": own}, {}), ("key",))


KEY, OTHER = asks(), asks("http://127.0.0.1:2")


class Server:
    """Counts who is being answered; all wait for `go`."""

    name = "s"

    def __init__(self) -> None:
        self.running: int = 0
        self.closed: int = 0
        self.go = asyncio.Event()

    async def stream(self, request: Request) -> AsyncGenerator[Piece]:
        self.running += 1
        try:
            await self.go.wait()
            yield Finished(StopReason.END)
        finally:
            self.running -= 1

    async def close(self) -> None:
        self.closed += 1


async def answered(provider: Provider) -> list[Piece]:
    return [piece async for piece in provider.stream(REQUEST)]


async def test_the_last_one_closes_it() -> None:
    server, providers = Server(), SharedProviders()
    first, second = (providers.of(KEY, lambda: server) for _ in range(2))
    other = providers.of(OTHER, Server)
    await first.close()
    await first.close()
    counts = [server.closed]
    await second.close()
    counts.append(server.closed)
    assert other.name == "s"
    await providers.of(KEY, lambda: server).close()
    assert [*counts, server.closed] == [0, 1, 2], "it is opened anew"


async def test_the_end_of_the_session_closes_what_nobody_gave_back() -> None:
    server, providers = Server(), SharedProviders()
    kept, _lost = (providers.of(KEY, lambda: server) for _ in range(2))
    await providers.close()
    await kept.close()
    assert server.closed == 1


async def test_so_many_at_once_and_first_come_first_served() -> None:
    server = Server()
    provider = SharedProviders().of(KEY, lambda: server)
    tasks = [asyncio.create_task(answered(provider)) for _ in range(AT_ONCE + 3)]
    await eventually(lambda: server.running == AT_ONCE)
    tasks[AT_ONCE].cancel()
    server.go.set()
    done = await asyncio.gather(*tasks, return_exceptions=True)
    assert sum(isinstance(each, list) for each in done) == AT_ONCE + 2
    assert not server.running


async def test_whose_requests_a_server_counts_together_wait_for_each_other() -> None:
    one, wide, other = Server(), Server(), Server()
    providers = SharedProviders()
    lent = (
        providers.of(asks(most=1), lambda: one),
        providers.of(asks(most=1, beta="wide"), lambda: wide),
        providers.of(OTHER, lambda: other),
    )
    tasks = [asyncio.create_task(answered(provider)) for provider in lent]
    await eventually(lambda: other.running == 1)
    assert (one.running, wide.running) == (1, 0)
    for server in (one, wide, other):
        server.go.set()
    assert len(await asyncio.gather(*tasks)) == 3


async def test_what_differs_in_key_or_server_is_not_shared() -> None:
    providers = SharedProviders()
    made: list[Provider] = []

    def counted(identity: Identity, make: object) -> Provider:
        provider = Server()
        made.append(provider)
        return provider

    def opened(url: str, key: str, model: str) -> None:
        settings = {"x": ProviderSettings(type="openai", base_url=url, api_key_env="K")}

        def sharing(identity: Identity, make: object) -> Provider:
            return providers.of(identity, lambda: counted(identity, make))

        open_provider(f"x/{model}", settings=settings, env={"K": key}, sharing=sharing)

    opened("http://127.0.0.1:1", "k", "m")
    opened("http://127.0.0.1:1", "k", "another")
    assert len(made) == 1
    opened("http://127.0.0.1:1", "k2", "m")
    opened("http://127.0.0.1:2", "k", "m")
    assert len(made) == 3


def test_keys_that_cannot_be_read_keep_nobody_from_a_server_that_wants_none(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "state").mkdir(parents=True)
    (home / "state" / "keys.json").write_text("{oops", encoding="utf-8")
    providers = SharedProviders()
    opened = open_provider(
        "demo", settings={}, env={"GATEWRIGHT_HOME": str(home)}, sharing=providers.of
    )
    assert opened.provider.name == "demo"
