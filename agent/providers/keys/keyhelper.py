"""A key from a command of the user's (`apiKeyHelper`): asked for when needed, kept for a while."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

from gatewright.agent.errors import FailureKind, ProviderError
from gatewright.tools.protocol import SpawnRequest, ToolFailure
from gatewright.tools.system.processes import printed

KEPT_SECONDS = 300.0
LIMIT_SECONDS = 30.0
LIMIT_BYTES = 64 * 1024


class KeyHelper:
    def __init__(
        self, command: str, env: Mapping[str, str], *, clock: Callable[[], float], name: str = ""
    ) -> None:
        self._command = command
        self._env = env
        self._clock = clock
        self._name = name
        self._key = ""
        self._until = 0.0
        self._asking = asyncio.Lock()

    def forget(self) -> None:
        """The server did not take it: ask anew next time."""
        self._until = 0.0

    async def key(self) -> str:
        async with self._asking:
            if not self._key or self._clock() >= self._until:
                self._key = await self._ask()
                self._until = self._clock() + KEPT_SECONDS
            return self._key

    async def _ask(self) -> str:
        line = SpawnRequest(
            argv=("/bin/sh", "-c", self._command),
            cwd=Path.cwd(),
            env=dict(self._env),
            leaves=True,  # an agent that keeps a passphrase
        )
        try:
            code, out, err = await printed(line, seconds=LIMIT_SECONDS, keep=LIMIT_BYTES + 1)
        except ToolFailure as failure:
            raise self._failure(f"gave no key: {failure}") from None
        if code is None:
            raise self._failure(f"gave no key within {LIMIT_SECONDS:.0f} s")
        key = out.decode("utf-8", "replace").strip()
        if len(out) > LIMIT_BYTES:
            raise self._failure("printed more than a key can be")
        if code or not key or "\n" in key:
            said = err.decode("utf-8", "replace").strip()[:200]
            raise self._failure(f"gave no key{': ' if said else ''}{said}")
        return key

    def _failure(self, what: str) -> ProviderError:
        return ProviderError(
            FailureKind.AUTH,
            f"The apiKeyHelper of {self._name} {what}. Run it by hand to see why.",
        )
