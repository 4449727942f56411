"""Adapts language servers to a session: how they start, what is told to whom, what is recorded."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gatewright.agent.errors import SessionError
from gatewright.agent.extensions.contribution import part_of
from gatewright.agent.extensions.host import Host
from gatewright.agent.extensions.lsp.servers_written import book_of
from gatewright.agent.extensions.lsp.starting import Starting, log_at
from gatewright.agent.extensions.plugins.plugins_now import plugins_of
from gatewright.agent.lsp.findings.hearing import Hearings
from gatewright.agent.lsp.findings.told import Told
from gatewright.agent.lsp.languages import LanguagePorts, Languages, Place
from gatewright.agent.lsp.questions.renaming import Plans
from gatewright.agent.lsp.running.definitions import Definition
from gatewright.agent.lsp.running.process_memory import resident
from gatewright.agent.lsp.running.server import Ports, Server
from gatewright.agent.lsp.running.server_book import Listed, ServerBook
from gatewright.agent.lsp.texts import Texts
from gatewright.agent.record.events import (
    AgentFinished,
    Cleared,
    Compacted,
    DiagnosticsTold,
    Envelope,
    LanguageServerStarted,
    Rewound,
    Snipped,
)
from gatewright.agent.settings.trust import TrustStore
from gatewright.agent.text.printable import escaped
from gatewright.permissions.decision import Deny
from gatewright.permissions.readable import read_decision
from gatewright.permissions.sandbox.commands import CommandSandbox
from gatewright.tools.access import MAIN
from gatewright.tools.moments import BatchEnded, Moment, Verdict
from gatewright.tools.protocol import Tool
from gatewright.tools.system.exact import real_path
from gatewright.tools.system.git import Stop, aside, git_in

if TYPE_CHECKING:
    from gatewright.mcp.serverlog import ServerLog

GIT_SECONDS = 5.0
NOTHING = Verdict()


class LspSession:
    def __init__(self, host: Host) -> None:
        self._host = host
        self._loop = asyncio.get_running_loop()
        self._logs: dict[str, ServerLog] = {}
        self._faults: set[str] = set()  # that were told
        self.starting = Starting(
            lambda: part_of(host.brought, CommandSandbox), lambda: host.around, self._started
        )
        self.plans = Plans()
        self.book = self._book()
        self.texts = Texts(host.client.files, self._may_show)
        self.languages = Languages(
            LanguagePorts(
                texts=self.texts,
                server=self._ports,
                place=self._place,
                offered=self._offered,
                ignored=self._ignored,
                left_out=self._left_out,
                told=lambda text: host.warn(escaped(text)),
            )
        )
        self.hearings = Hearings(self.languages, self.shown, self._may_hear)

    # --- what there is ---

    def _book(self) -> ServerBook:
        book = book_of(self._host.around, plugins_of(self._host.brought))
        self._tell_faults(book)
        return book

    def _tell_faults(self, book: ServerBook) -> None:
        """Each once."""
        for fault in book.faults:
            if fault not in self._faults:
                self._faults.add(fault)
                self._host.warn(escaped(fault))

    def _offered(self, path: str) -> Sequence[Definition]:
        found = self.book.offered(path)
        self._tell_faults(self.book)
        return found

    def again(self) -> None:
        """Settings, plugins or trust are others: what is written down otherwise starts anew."""
        self.book = self._book()
        if not self._host.around.trusted or self._host.around.settings.lsp.use == "off":
            self.languages.stop_all()

    def serves(self) -> bool:
        """Whether there may be a server for this project at all."""
        return self._host.around.trusted and any(
            each.program and not each.lack for each in self.listed()
        )

    def listed(self) -> Sequence[Listed]:
        return self.book.listed()

    def _place(self) -> Place:
        """The project, and of what was added to it the directories that are trusted themselves."""
        around = self._host.around
        added = around.where.added
        if added:
            store = TrustStore(around.places, around.env)
            added = tuple(each for each in added if store.trusts(each))
        return Place(tuple(real_path(each) for each in (around.where.root, *added)))

    def shown(self, path: str) -> str:
        return self._host.around.where.shown(Path(path))

    def _may_hear(self, agent: str, path: str) -> bool:
        del agent
        return self._may_show(path)

    def _may_show(self, path: str) -> bool:
        """Whether no rule denies reading it: servers are told no more than models."""
        host, file = self._host, Path(path)
        return not isinstance(read_decision(host.policy, host.around.where, file, file), Deny)

    async def _ignored(self, path: str) -> bool:
        """Whether git leaves it out; where there is no repository it leaves out nothing."""
        folder, name = os.path.split(path)
        caller = self._host.around.caller

        def ask(stop: Stop) -> bool:
            with git_in(caller, Path(folder), stop) as git:
                asked = ("--others", "--ignored", "--exclude-standard", "--", f"./{name}")
                return bool(git.run("ls-files", *asked, seconds=GIT_SECONDS).strip())

        try:
            return await aside(ask)
        except OSError:
            return False

    async def _left_out(self, root: str) -> Collection[str]:
        """What git ignores below it, directories as one; nothing where it cannot be asked."""
        caller = self._host.around.caller

        def ask(stop: Stop) -> list[bytes]:
            with git_in(caller, Path(root), stop) as git:
                asked = ("-z", "--others", "--ignored", "--exclude-standard", "--directory")
                return git.run("ls-files", *asked, seconds=GIT_SECONDS).split(b"\0")

        try:
            names = await aside(ask)
        except OSError:
            return ()
        return {f"{root}/{os.fsdecode(name).rstrip('/')}" for name in names if name}

    # --- one server's surroundings ---

    def _ports(self, changed: Any) -> Ports:
        return Ports(
            start=self.starting.start,
            log=lambda name, data: self.log_of(name).add(data),
            memory=resident,
            told=lambda text: self._host.warn(escaped(text)),
            changed=changed,
            now=self._loop.time,
            texts=self.texts,
        )

    def log_of(self, name: str) -> ServerLog:
        if name not in self._logs:
            from gatewright.mcp.serverlog import ServerLog  # noqa: PLC0415  lazy: 2 ms

            self._logs[name] = ServerLog(log_at(self._host.around.places.home, name))
        return self._logs[name]

    def _started(self, definition: Definition, root: str, confined: bool) -> None:
        command = " ".join((definition.command, *definition.args))
        self._host.publish(
            LanguageServerStarted(
                name=definition.name, command=command[:1000], root=root, confined=confined
            )
        )

    # --- what happens ---

    def wrote(self, agent: str, path: str) -> None:
        """The very first change is not heard of as its calls end: nobody listened before it."""
        self.hearings.wrote(agent, path)
        if not self.languages.all:
            self.languages.begin(path)

    async def at(self, moment: Moment) -> Verdict:
        if not isinstance(moment, BatchEnded) or not self._host.around.trusted:
            return NOTHING
        fed = self._fed()
        seconds = self._host.around.settings.lsp.wait_ms / 1000 if fed else 0.0
        told = await self.hearings.heard(moment.agent, seconds)
        if told is None or not fed:
            return NOTHING
        self._publish(told, moment.agent)
        return Verdict(context=(told.text,))

    def _fed(self) -> bool:
        """Whether models are told unasked; the one place for whatever turns that off."""
        return self._host.around.settings.lsp.diagnostics

    def late(self, agent: str) -> str:
        told = self.hearings.late(agent) if self._fed() else None
        if told is None:
            return ""
        self._publish(told, agent)
        return told.text

    def _publish(self, told: Told, agent: str) -> None:
        event = DiagnosticsTold(
            summary=told.summary,
            text=told.text,
            errors=told.errors,
            warnings=told.warnings,
            solved=told.solved,
            files=told.files,
        )
        self._host.journal.publish(event, agent)

    def saw(self, envelope: Envelope) -> None:
        match envelope.event:
            case Compacted() | Cleared() | Rewound() | Snipped() if envelope.agent == MAIN:
                self.languages.close_documents()
                self.hearings.forget()
            case AgentFinished():
                self.hearings.ended(envelope.agent)
            case _:
                pass

    def tool(self) -> Tool[Any]:
        from gatewright.agent.extensions.lsp.lsp_tool import LspTool  # noqa: PLC0415  lazy: with its first use

        return LspTool(self)

    # --- what people ask ---

    def server(self, name: str) -> Server:
        """Raises SessionError."""
        found = [each for each in self.languages.all if each.name == name]
        if not found:
            raise SessionError(f"No language server {name} has been started in this session.")
        return found[0]

    async def close(self) -> None:
        await self.languages.close()
        self.starting.close()
