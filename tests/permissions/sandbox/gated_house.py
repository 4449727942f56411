"""A project behind the whole gate, with real commands in the real sandbox and a scripted person."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec

from gatewright.agent.settings.groups.sandbox_settings import Sandbox
from gatewright.permissions.gated import GatePorts, gated
from gatewright.permissions.policy import Policy, PolicyConfig
from gatewright.permissions.sandbox.commands import Base, CommandSandbox
from gatewright.permissions.sandbox.config import SandboxSettings
from gatewright.permissions.sandbox.restrictions import restrictions
from gatewright.tools.access import Where
from gatewright.tools.interact import Answer, Ask
from gatewright.tools.protocol import ToolCall, ToolResult
from gatewright.tools.registry import BASIC, BuiltinTools
from gatewright.tools.system.home import OwnHome
from gatewright.tools.system.processes import spawn
from gatewright.tools.system.secrets import Secrets
from tests.fakes.executor import context, executed


class House:
    def __init__(
        self, place: Path, settings: Sandbox, project: Path | None = None, **config: Any
    ) -> None:
        for name in ("proj", "home", "out"):
            (place / name).mkdir()
        self.place, self.project = place, project or place / "proj"
        self.asked: list[Ask] = []
        self.warned: list[str] = []
        self.told: list[str] = []  # why commands are not confined
        self.answer = Answer(("once",))
        where = Where(self.project, self.project, place / "home")
        self.policy = Policy(
            PolicyConfig(root=where.root, cwd=where.cwd, home=where.home, trusted=True, **config)
        )
        root = str(self.project)
        self.sandbox = CommandSandbox(
            Base(where.cwd, where.home, (where.root,), OwnHome(str(place / "own"))),
            settings,
            restrictions=lambda: restrictions(self.policy.rules(), root, root),
            warn=self.warned.append,
            unconfined=self.told.append,
        )
        ports = GatePorts(sandbox=self.sandbox)
        self.executor = gated([BuiltinTools(BASIC)], self.policy, ports)
        env = {"PATH": os.environ["PATH"], "HOME": str(where.home)}
        self.ctx = msgspec.structs.replace(
            context(self.project), ask=self._ask, where=where, spawn=spawn, env=env
        )

    def opened(self, *more: Path) -> None:
        self.set(self.sandbox.settings, *more)

    def set(self, settings: SandboxSettings, *more: Path) -> None:
        """The settings say this from now on."""
        self.sandbox.take(settings, (self.project, *more), Secrets)

    async def _ask(self, ask: Ask) -> Answer:
        self.asked.append(ask)
        return self.answer

    def unspelled(self, command: str, name: str = "unspelled.sh") -> str:
        """A line that runs this and names none of its files: the gate asks about none of them."""
        (self.project / name).write_text(command, encoding="utf-8")
        return f"sh {name}"

    async def bash(self, command: str, **more: object) -> ToolResult:
        call = ToolCall("c1", "Bash", {"command": command, **more})
        return await executed(self.executor, call, self.ctx)
