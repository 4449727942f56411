"""What a client brings counts in the session that it opens."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import BinaryIO

import pytest

from gatewright.agent import build
from gatewright.agent.api import Client
from gatewright.agent.build import open_session
from gatewright.agent.client.brought import Brought, OwnHooks
from gatewright.agent.commands.outcome import Outcome, Say, Scope
from gatewright.agent.commands.registry import Command, CommandContext, always
from gatewright.agent.extensions.contribution import Contribution
from gatewright.agent.extensions.host import Extension, Host
from gatewright.agent.extensions.listed import EXTENSIONS
from gatewright.agent.frontends.sdk.hook_callbacks import registered
from gatewright.agent.hooks.handlers import Handler
from gatewright.agent.hooks.kinds.running import Firing, Output
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.record.events import Decided, ToolFinished
from gatewright.agent.session.children import AgentSpec
from gatewright.tools.blocks import plain
from gatewright.tools.files.disk import DISK
from gatewright.tools.protocol import TextContent
from tests.fakes.model_server import ModelServer
from tests.fakes.recorder import Recorder


class Buffers:
    """An editor that has not saved what it holds."""

    def __init__(self, held: dict[Path, bytes]) -> None:
        self.held = held

    def opened(self, real: Path) -> BinaryIO:
        return io.BytesIO(self.held[real]) if real in self.held else DISK.opened(real)

    def writable(self, real: Path) -> None:
        """Whatever is held may be changed."""

    def swap(self, real: Path, expected: bytes | None, data: bytes) -> None:
        assert self.held[real] == expected
        self.held[real] = data


async def test_the_text_of_files_is_the_clients(tmp_path: Path) -> None:
    project, home = tmp_path / "project", tmp_path / "home"
    project.mkdir()
    note = project / "note.txt"
    note.write_text("as it was saved\n", encoding="utf-8")
    editor = Buffers({note: b"not saved yet\n"})
    options = LaunchOptions(cwd=str(project), model="demo", no_session=True)
    env = {"HOME": str(home), "PATH": os.environ["PATH"]}
    client = Brought(files=editor)
    session = await open_session(options, env, interactive=False, client=client)
    async with Recorder(session) as seen:
        session.submit("read note.txt")
        finished = await seen.until(ToolFinished)
        await session.idle()
    await session.close()
    (content,) = finished.content
    assert isinstance(content, TextContent)
    assert "not saved yet" in content.text
    assert "as it was saved" not in content.text


async def refusing(handler: Handler, firing: Firing) -> Output:
    said = {"hookEventName": firing.event, "permissionDecision": "deny"}
    reason = {"permissionDecisionReason": f"{handler.callback} says no"}
    return Output(answer={"hookSpecificOutput": said | reason})


async def test_its_own_hooks_are_asked_from_the_first_call_on(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("secret\n", encoding="utf-8")
    given = registered({"PreToolUse": [{"matcher": "Read", "hookCallbackIds": ["guard"]}]})
    options = LaunchOptions(cwd=str(tmp_path), model="demo", no_session=True)
    env = {"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"]}
    brings = Brought(hooks=OwnHooks(given, refusing))
    results: list[str] = []
    async with Client(options, env=env, brings=brings) as client:
        async for event in client.ask("read note.txt"):
            if isinstance(event, ToolFinished):
                results += [part.text for part in event.content if isinstance(part, TextContent)]
    assert "guard says no" in results[0]
    assert not any("secret" in each for each in results)


async def plug(host: Host) -> Contribution:
    """A throwaway system that starts an agent as the client describes it."""

    async def run(context: CommandContext) -> Outcome:
        kind = host.client.agents[context.args]
        found = [spec for spec in host.tools.specs() if spec.name in kind["tools"]]
        spec = AgentSpec(
            name="a",
            kind=context.args,
            prompt="go",
            model=lambda: host.open_model(kind["model"], "").briefed((kind["prompt"],), (*found,)),
            scope=Scope(by=context.args, only=tuple(kind["tools"])),
        )
        child = host.session.spawn(spec)
        await child.idle()
        await child.close()
        return Say.text(", ".join(host.client.servers))

    return Contribution(commands=(always(Command(name="start", summary="Start one", run=run)),))


STARTING = Extension(name="starting", plug=plug)


async def test_servers_and_agents_are_there_for_who_knows_what_to_do_with_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "EXTENSIONS", (*EXTENSIONS, f"{__name__}:STARTING"))
    kind = {"prompt": "You look.", "tools": ["Read", "Glob"], "model": "anthropic/claude-haiku-4-5"}
    brings = Brought(servers={"own": {"command": "x"}}, agents={"looker": kind})
    script = 'call: Bash {"command": "ls"}\n---\nsay: looked'
    async with ModelServer(script) as server:
        env = {
            "HOME": str(tmp_path / "home"),
            "PATH": os.environ["PATH"],
            "ANTHROPIC_BASE_URL": server.url,
            "ANTHROPIC_API_KEY": "key",
        }
        options = LaunchOptions(cwd=str(tmp_path), model="anthropic/m", no_session=True)
        session = await build.open_session(options, env, interactive=False, client=brings)
        async with Recorder(session) as seen:
            said = await session.run_command("/start looker")
            assert isinstance(said, Say)
            assert plain(said.blocks[0]) == "own"
            body = server.bodies[0]
            assert {tool["name"] for tool in body["tools"]} == {"Glob", "Read"}
            assert "You look." in str(body["system"])
            assert [event.behavior for event in seen.of(Decided)] == ["deny"], "its tools alone"
        await session.close()
