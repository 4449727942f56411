"""A tool that comes later can be called and is told of, and no byte of the array changes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Collection, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gatewright.agent import build
from gatewright.agent.extensions.contribution import Contribution
from gatewright.agent.extensions.host import Extension, Host
from gatewright.agent.extensions.listed import EXTENSIONS
from gatewright.tools.access import Effect
from gatewright.tools.plain import StructTool
from gatewright.tools.protocol import (
    JsonObject,
    Progress,
    Tool,
    ToolCall,
    ToolContext,
    ToolResult,
    ToolSpec,
)
from tests.permissions.composed import Desk, desk

HERE = "tests.agent.test_tool_sources"
ALONE = {"GATEWRIGHT_DISABLE_AUTONOMY": "1"}  # its tools would be told of, too
SERVER = Extension(name="a server", plug=lambda host: asyncio.sleep(0, Contribution()))


class Nothing(msgspec.Struct):
    pass


class Says(StructTool[Nothing]):
    input, effects = Nothing, Effect.FREE

    def __init__(self, name: str) -> None:
        self.name = name

    async def run(self, input: Nothing, ctx: ToolContext) -> AsyncIterator[Progress | ToolResult]:
        yield ToolResult.text(f"{self.name} ran")


class Wrapped(msgspec.Struct):
    name: str
    input: JsonObject = {}


class CallTool(StructTool[Wrapped]):
    """What calls a tool that no request offers: it only carries the call."""

    name, input = "CallTool", Wrapped

    def carried(self, id: str, input: Wrapped) -> ToolCall:
        return ToolCall(id, input.name, input.input)

    async def run(self, input: Wrapped, ctx: ToolContext) -> AsyncIterator[Progress | ToolResult]:
        yield ToolResult.failed("the carried call runs in its place")


class Server:
    """A source whose tools come and go; those that are rare are not offered."""

    def __init__(self) -> None:
        self.tools: dict[str, Tool[Any]] = {}
        self.rare: set[str] = set()
        self.host: Host | None = None
        self.have(CallTool())

    def have(self, *tools: Tool[Any]) -> None:
        self.tools |= {tool.name: tool for tool in tools}

    def specs(self, *, short: bool = False) -> Sequence[ToolSpec]:
        return [ToolSpec(name, f"It is {name}.", {"type": "object"}) for name in self.tools]

    def find(self, name: str) -> Tool[Any] | None:
        return self.tools.get(name)

    def deferred(self) -> Collection[str]:
        return self.rare

    async def plug(self, host: Host) -> Contribution:
        self.host = host
        return Contribution(sources=(self,), prompt=(lambda: "# Servers\n\nThere is a server.",))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    made = Server()
    monkeypatch.setitem(globals(), "SERVER", Extension(name="a server", plug=made.plug))
    monkeypatch.setattr(build, "EXTENSIONS", (*EXTENSIONS, f"{HERE}:SERVER"))
    return made


def array(made: Desk, request: int) -> bytes:
    return json.dumps(made.server.bodies[request]["tools"]).encode()


def told(made: Desk, request: int) -> list[str]:
    return [text for text in made.words(request) if "besides the tools of this request" in text]


async def test_later_tools_are_callable_and_the_array_stays(tmp_path: Path, server: Server) -> None:
    server.have(Says("Rare"))
    server.rare.add("Rare")
    script = (
        "say: hello",
        "call[c1]: Late {}",
        "say: so",
        'call[c2]: CallTool {"name": "Rare"}',
        "say: so",
        "say: after",
    )
    async with desk(tmp_path, script, env=ALONE) as made:
        made.session.submit("hi")
        await made.ended()
        (first,) = told(made, 0)
        assert first.endswith(": Rare. ToolSearch shows what they take, and CallTool calls one.")
        server.have(Says("Late"))
        made.session.submit("go")
        assert await made.finished("c1") == "Late ran"
        await made.ended(2)
        made.session.submit("and the rare one")
        assert await made.finished("c2") == "Rare ran"
        await made.ended(3)
        offered = {array(made, number) for number in range(5)}
        assert len(offered) == 1
        assert b"CallTool" in array(made, 0)
        assert b"Late" not in array(made, 0) and b"Rare" not in array(made, 0)
        names = [text.partition(": ")[2].partition(". ")[0] for text in told(made, 4)]
        assert [text.rpartition(": ")[2] for text in names] == ["Rare", "Late, Rare"]
        systems = {str(body["system"]) for body in made.server.bodies[:5]}
        assert len(systems) == 1 and "There is a server." in systems.pop()
        await made.session.idle()
        await made.session.run_command("/clear")
        made.session.submit("again")
        await made.ended(4)
        assert b"Late" in array(made, 5), "the prompt begins anew"
        assert [text.partition(": ")[2].partition(". ")[0] for text in told(made, 5)] == [
            text.partition(": ")[2].partition(". ")[0] for text in [first]
        ]
        assert server.host is not None
        assert {"Late", "Rare", "Read"} <= {spec.name for spec in server.host.tools.specs()}


async def test_what_a_rule_refuses_whole_is_not_offered(tmp_path: Path, server: Server) -> None:
    server.have(Says("Shut"))
    denied = {"permissions": {"deny": ["Shut"]}}
    async with desk(tmp_path, ["say: hello"], settings=denied, env=ALONE) as made:
        made.session.submit("hi")
        await made.ended()
        assert b"Shut" not in array(made, 0)
        assert told(made, 0) == []
