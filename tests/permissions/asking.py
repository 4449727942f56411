"""The gate over the real built-in tools on a real directory, and a person who says one thing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from gatewright.permissions.decision import DecisionRecord
from gatewright.permissions.gated import GatePorts, gated
from gatewright.permissions.policy import Policy, PolicyConfig
from gatewright.permissions.rulebook.rules import RuleTexts
from gatewright.tools.files.fs import ReadLedger
from gatewright.tools.interact import Answer, Ask
from gatewright.tools.moments import CallPrepared, Moment, Verdict
from gatewright.tools.protocol import ToolCall, ToolResult
from gatewright.tools.registry import TOOLS, BuiltinTools
from gatewright.tools.system.processes import spawn
from tests.fakes.executor import context, executed


class Desk:
    """Answers everything with `answer`, after doing `meanwhile`."""

    def __init__(
        self,
        root: Path,
        *,
        allow: tuple[str, ...] = (),
        deny: tuple[str, ...] = (),
        mode: str = "default",
        answer: str = "once",
    ) -> None:
        self.root = root
        self.answer = answer
        self.asked: list[Ask] = []
        self.hooked: list[ToolCall] = []
        self.records: list[DecisionRecord] = []
        self.meanwhile: Callable[[], object] = lambda: None
        self.ledger = ReadLedger()
        rules = {"user": RuleTexts(allow=allow, deny=deny)}
        home = root.parent / "home"
        config = PolicyConfig(root=root, cwd=root, home=home, rules=rules, mode=mode)
        ports = GatePorts(record=self.records.append)
        self.executor = gated([BuiltinTools(TOOLS)], Policy(config), ports)
        self.context = msgspec.structs.replace(
            context(root), ledger=self.ledger, spawn=spawn, ask=self.ask, moments=self
        )

    async def ask(self, ask: Ask) -> Answer:
        self.asked.append(ask)
        self.meanwhile()
        return Answer((self.answer,))

    async def at(self, moment: Moment) -> Verdict:
        if isinstance(moment, CallPrepared):
            self.hooked.append(moment.call)
        return Verdict()

    def file(self, name: str, content: str) -> Path:
        """One the model has read."""
        path = self.root / name
        path.write_text(content, encoding="utf-8")
        self.ledger.note(path, path.read_bytes())
        return path

    async def call(self, name: str, **input: object) -> ToolResult:
        return await executed(self.executor, ToolCall("c1", name, dict(input)), self.context)
