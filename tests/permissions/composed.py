"""A whole session over a scripted model server: the composition root, real tools, the real gate."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from gatewright.agent.build import open_session
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.record.events import Asked, Decided, ToolFinished, TurnEnded
from gatewright.agent.session.session import Session
from gatewright.tools.interact import Answer
from gatewright.tools.protocol import TextContent
from tests.fakes.model_server import ModelServer
from tests.fakes.recorder import Recorder
from tests.fakes.waiting import PATIENCE

WITHIN = PATIENCE
NOTHING: Mapping[str, Any] = MappingProxyType({})
ID = "5e55104a-0000-4000-8000-000000000001"


@dataclass
class Desk:
    """One open session, everything it said and what the model was sent."""

    session: Session
    seen: Recorder
    server: ModelServer
    project: Path

    def settings(self, values: dict[str, Any] | str) -> Path:
        return write_settings(self.project, values)

    def answer(self, asked: Asked, choice: str, text: str = "") -> None:
        self.session.answer(asked.id, Answer((choice,), text=text))

    async def asked(self, count: int = 1) -> Asked:
        return await self.seen.until(Asked, count=count, within=WITHIN)

    async def finished(self, call: str) -> str:
        """The result of a call, as the model reads it."""
        event = await self.seen.until(
            ToolFinished, where=lambda one: one.call_id == call, within=WITHIN
        )
        return "\n".join(part.text for part in event.content if isinstance(part, TextContent))

    async def decided(self, call: str) -> Decided:
        return await self.seen.until(Decided, where=lambda one: one.call_id == call, within=WITHIN)

    async def ended(self, count: int = 1) -> None:
        await self.seen.until(TurnEnded, count=count, within=WITHIN)

    def words(self, request: int) -> list[str]:
        """The texts of one request to the model, oldest first; results are texts too."""
        found: list[str] = []
        for message in self.server.bodies[request]["messages"]:
            content = message["content"]
            for block in [{"text": content}] if isinstance(content, str) else content:
                inner = block.get("content", block.get("text", ""))
                found.append(inner if isinstance(inner, str) else json.dumps(inner))
        return [text for text in found if text]


def write_settings(project: Path, values: dict[str, Any] | str) -> Path:
    path = project / ".gatewright" / "settings.json"
    path.parent.mkdir(exist_ok=True)
    text = values if isinstance(values, str) else json.dumps(values, indent=1)
    path.write_text(text, encoding="utf-8")
    return path


@asynccontextmanager
async def desk(
    folder: Path,
    script: Sequence[str],
    *,
    mode: str = "",
    trust: bool = True,
    interactive: bool = True,
    settings: dict[str, Any] | None = None,
    own: dict[str, Any] | None = None,
    env: Mapping[str, str] | None = None,
    tools: tuple[str, ...] | None = None,
    options: Mapping[str, Any] = NOTHING,
) -> AsyncGenerator[Desk]:
    """Opened in `folder/project` with a home of its own, where `own` is the person's settings.

    `options` are those of the command line besides. Titles need no server.
    """
    home, project = folder / "home", folder / "project"
    (home / ".gatewright").mkdir(parents=True, exist_ok=True)
    project.mkdir(exist_ok=True)
    usual = {"smallModel": "demo", "sandbox": {"enabled": False}}
    text = json.dumps({**usual, **(own or {})})
    (home / ".gatewright" / "settings.json").write_text(text, encoding="utf-8")
    if settings is not None:
        write_settings(project, settings)
    async with ModelServer("\n---\n".join(script)) as server:
        env = {
            **(env or {}),
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "ANTHROPIC_BASE_URL": server.url,
            "ANTHROPIC_API_KEY": "key",
        }
        launch = LaunchOptions(
            cwd=str(project),
            trust=trust,
            mode=mode,
            model="anthropic/claude-sonnet-5-5",
            session_id="" if "resume" in options else ID,
            tools=tools,
        )
        launch = msgspec.structs.replace(launch, **options)
        session = await open_session(launch, env, interactive=interactive)
        async with Recorder(session) as seen:
            try:
                yield Desk(session, seen, server, Path(os.path.realpath(project)))
            finally:
                await session.close()
