"""Whether language servers begin here: each started once as a session would, greeted, and ended."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import msgspec

from gatewright.agent.extensions.lsp.starting import Starting
from gatewright.agent.lsp.running.definitions import Definition
from gatewright.agent.lsp.running.server import Ports, Server
from gatewright.agent.settings.policy_settings import command_sandbox, policy_config
from gatewright.agent.settings.workspace import Surroundings
from gatewright.agent.text.printable import visible
from gatewright.permissions.policy import Policy
from gatewright.tools.system.home import OwnHome

MODE = "default"  # of the sandbox: what servers may is the same in all
WORDS = 300  # characters of what one says beside the protocol


class Tried(msgspec.Struct, frozen=True):
    """`why` is empty where it begins."""

    why: str
    seconds: float
    confined: bool

    def told(self) -> str:
        inside = "in the sandbox" if self.confined else "without a sandbox"
        return (
            f"does not begin: {self.why}" if self.why else f"begins in {self.seconds} s, {inside}"
        )


async def tried(around: Surroundings, definitions: Sequence[Definition]) -> dict[str, Tried]:
    """All at once, by name. Nothing of them is left."""
    own = OwnHome(str(around.places.home))
    sandbox = command_sandbox(around, Policy(policy_config(around, MODE)), own)
    confined: dict[str, bool] = {}

    def started(definition: Definition, root: str, inside: bool) -> None:
        del root
        confined[definition.name] = inside

    starting = Starting(lambda: sandbox, lambda: around, started)
    try:
        found = await asyncio.gather(*(_try(each, around, starting) for each in definitions))
    finally:
        starting.close()
        await sandbox.close()
    pairs = zip(definitions, found, strict=True)
    return {
        each.name: Tried(why, round(seconds, 1), confined.get(each.name, False))
        for each, (why, seconds) in pairs
    }


async def _try(
    definition: Definition, around: Surroundings, starting: Starting
) -> tuple[str, float]:
    loop, words = asyncio.get_running_loop(), bytearray()

    def log(name: str, data: bytes) -> None:
        del name
        words.extend(data[: 10 * WORDS])
        del words[: -10 * WORDS]

    def nothing(*_: object) -> None:
        return

    ports = Ports(
        start=starting.start,
        log=log,
        memory=lambda _: 0,
        told=nothing,
        changed=lambda: None,
        now=loop.time,
    )
    once = msgspec.structs.replace(definition, max_restarts=0)
    server = Server(once, str(around.where.root), ports)
    began = loop.time()
    try:
        ready = await server.ready(definition.startup_timeout + 5)
        seconds = loop.time() - began
    finally:
        why = server.why
        await server.close()
    if ready:
        return "", seconds
    said = visible(" ".join(words.decode("utf-8", "replace").split())[:WORDS])
    return ": ".join(filter(None, (why or "it does not answer", said))), seconds
