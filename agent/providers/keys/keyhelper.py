"""A key from a command of the user's (`apiKeyHelper`): asked for when needed, kept for a while."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Mapping

from gatewright.agent.errors import FailureKind, ProviderError

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
        process = await asyncio.create_subprocess_shell(
            self._command,
            env=dict(self._env),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(LIMIT_SECONDS):
                out, err = await _printed(process)
                await process.wait()
        except TimeoutError:
            raise self._failure(f"gave no key within {LIMIT_SECONDS:.0f} s") from None
        finally:
            if process.returncode is None:
                await _end(process)
        key = out.decode("utf-8", "replace").strip()
        if len(out) > LIMIT_BYTES:
            raise self._failure("printed more than a key can be")
        if process.returncode or not key or "\n" in key:
            said = err.decode("utf-8", "replace").strip()[:200]
            raise self._failure(f"gave no key{': ' if said else ''}{said}")
        return key

    def _failure(self, what: str) -> ProviderError:
        return ProviderError(
            FailureKind.AUTH,
            f"The apiKeyHelper of {self._name} {what}. Run it by hand to see why.",
        )


async def _end(process: asyncio.subprocess.Process) -> None:
    """Its pipes are emptied too: a full one that nobody reads would be waited for."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(1.0):
            await _printed(process)
            await process.wait()


async def _printed(process: asyncio.subprocess.Process) -> tuple[bytes, bytes]:
    out, err = await asyncio.gather(_some(process.stdout), _some(process.stderr))
    return out, err


async def _some(stream: asyncio.StreamReader | None) -> bytes:
    """Read to its end; no more is kept than shows that it is too much."""
    data = bytearray()
    while stream is not None and (part := await stream.read(LIMIT_BYTES)):
        data += part[: max(0, LIMIT_BYTES + 1 - len(data))]
    return bytes(data)
