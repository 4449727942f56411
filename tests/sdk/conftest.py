"""Model servers for the tests of public clients."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest

from tests.e2e.program import Program
from tests.fakes.model_server import ModelServer


@pytest.fixture
async def serve(program: Program) -> AsyncGenerator[Callable[..., Any]]:
    from tests.sdk.judging import Judge

    servers: list[ModelServer] = []

    async def serve_(script: str, *, repeat: bool = False) -> Any:
        server = ModelServer(script, repeat=repeat)
        await server.start()
        servers.append(server)
        return Judge(program, server)

    yield serve_
    for server in servers:
        await server.stop()
