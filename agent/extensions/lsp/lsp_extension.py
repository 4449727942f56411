"""Plugs language servers in: nothing of them is imported before there is one that could serve.

To look whether there is costs a few stats: at the first change of a file of such a kind, and where
the tools of a session are listed.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable, Collection, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from gatewright.agent.commands.outcome import Outcome
from gatewright.agent.commands.registry import Command, CommandContext
from gatewright.agent.extensions.contribution import Contribution, part_of
from gatewright.agent.extensions.host import Extension, Host
from gatewright.agent.extensions.plugins.plugins_now import plugins_of
from gatewright.agent.plugins.parts import PluginParts
from gatewright.agent.record.events import Envelope
from gatewright.agent.settings.workspace import Surroundings, roots
from gatewright.tools.access import MAIN, Where
from gatewright.tools.protocol import Content, TextContent, Tool, ToolSpec

if TYPE_CHECKING:
    from gatewright.agent.extensions.lsp.lsp_session import LspSession

NAME = "LSP"
OPENS = 30.0  # seconds for what takes milliseconds
LOOKED = 30.0  # seconds for which an absent program stays absent
ENTRIES, FOLDERS = 500, 20  # of the project that are looked at for kinds of files


class LanguageServers:
    """What a session has of them; `session` is None until a server could be started."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.session: LspSession | None = None
        self._kinds: dict[str, tuple[bool, float]] = {}  # of files: whether a server was found
        self._project: tuple[bool, float] | None = None
        self._tool: Tool[Any] | None = None
        self._loop = asyncio.get_running_loop()

    # --- whether there is one ---

    @property
    def possible(self) -> bool:
        """A project that is not trusted has no server, whatever anybody says."""
        return self.trusted and self._host.around.settings.lsp.use != "off"

    @property
    def trusted(self) -> bool:
        return self._host.around.trusted

    def _written(self) -> bool:
        brought = plugins_of(self._host.brought)
        return bool(self._host.around.settings.lsp_servers) or any(
            each.language_servers for each in brought
        )

    def _built_in(self, suffix: str) -> bool:
        """Whether a program is there for such files; asked again after a while."""
        known, now = self._kinds.get(suffix), self._loop.time()
        if known is None or (not known[0] and now - known[1] > LOOKED):
            self._kinds[suffix] = known = self._look(suffix), now
        return known[0]

    def _look(self, suffix: str) -> bool:
        from gatewright.agent.lsp.running.programs import FAMILY, PROGRAMS, PROJECT_BINS  # noqa: PLC0415  lazy: 0.3 ms
        from gatewright.tools.system.programs import find  # noqa: PLC0415  loaded by most

        around = self._host.around
        avoid, root = roots(around.where), around.where.root
        return any(
            find(program, around.env, avoid)
            or any(os.access(f"{root}/{place}/{program}", os.X_OK) for place in PROJECT_BINS)
            for program in PROGRAMS.get(FAMILY.get(suffix, ""), ())
        )

    def _there(self) -> bool:
        """Whether this project has files that a server would serve: its own directory tells."""
        if self.session is not None:
            return self.session.serves()
        if not self.possible:
            return False
        if self._written():
            return self.opened().serves()
        now = self._loop.time()
        if self._project is None or (not self._project[0] and now - self._project[1] > LOOKED):
            self._project = any(map(self._built_in, self._suffixes())), now
        return self._project[0]

    def _suffixes(self) -> set[str]:
        """Of the files in the project's own directory and one level below."""
        found, folders = set[str](), [str(self._host.around.where.root)]
        left = ENTRIES
        for folder in folders:  # grows while the first is read
            with contextlib.suppress(OSError), os.scandir(folder) as entries:
                for entry in islice(entries, max(0, left)):
                    left -= 1
                    found.add(os.path.splitext(entry.name)[1])  # noqa: PTH122
                    deeper = folder == folders[0] and len(folders) < FOLDERS
                    if deeper and entry.name[0] != "." and entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
        return found - {""}

    def opened(self) -> LspSession:
        """The real thing, from now on."""
        if self.session is None:
            from gatewright.agent.extensions.lsp.lsp_session import LspSession  # noqa: PLC0415  lazy: 15 ms

            self.session = LspSession(self._host)
            self._host.listeners.add(self.session)
        return self.session

    def _opened_from_a_thread(self) -> LspSession:
        """Tools are looked for in the loop and beside it; a session is made in it."""

        async def made() -> LspSession:
            return self.opened()

        with contextlib.suppress(RuntimeError):  # there is no loop in this thread
            if asyncio.get_running_loop() is self._loop:
                return self.opened()
        if self.session is not None:
            return self.session
        return asyncio.run_coroutine_threadsafe(made(), self._loop).result(OPENS)

    # --- what happens in the session ---

    def wrote(self, agent: str, path: str) -> None:
        """A call changed that file; the first one that a server serves begins it."""
        if self.session is None:
            if not self.possible:
                return
            suffix = os.path.splitext(path)[1].lower()  # noqa: PTH122
            if not (self._written() or (suffix and self._built_in(suffix))):
                return
        self.opened().wrote(agent, path)

    def saw(self, envelope: Envelope) -> None:
        if self.session is not None:
            self.session.saw(envelope)

    async def late(self, typed: str, text: str, where: Where) -> Sequence[tuple[Content, ...]]:
        """What came too late for the request that it belonged to."""
        del typed, text, where
        told = self.session.late(MAIN) if self.session is not None else ""
        return ((TextContent(told),),) if told else ()

    def changed(self, around: Surroundings) -> None:
        """May be called from a thread."""
        del around
        self._loop.call_soon_threadsafe(self.again)

    def again(self) -> None:
        self._kinds, self._project = {}, None
        if self.session is not None:
            self.session.again()

    # --- a source of tools ---

    def specs(self, *, short: bool = False) -> Sequence[ToolSpec]:
        tools = self._host.around.options.tools
        if (tools is not None and NAME not in tools) or not self._there():
            return ()
        from gatewright.agent.lsp.questions.tool_spec import lsp_spec  # noqa: PLC0415  there is a server

        return (lsp_spec(short=short),)

    def find(self, name: str) -> Tool[Any] | None:
        if name != NAME or not self._there():
            return None
        if self._tool is None:
            self._tool = self._opened_from_a_thread().tool()
        return self._tool

    def deferred(self) -> Collection[str]:
        return (NAME,) if self._host.around.options.tools is None and self._there() else ()

    async def run(self, context: CommandContext) -> Outcome:
        from gatewright.agent.extensions.lsp.lsp_command import run_command  # noqa: PLC0415  lazy: 2 ms

        return await run_command(self, context)

    async def close(self) -> None:
        if self.session is not None:
            await self.session.close()


def lsp_command(run: Callable[[CommandContext], Awaitable[Outcome]]) -> Command:
    return Command(
        name="lsp",
        summary="Language servers: state, files, memory; restart one, or read its log",
        args="[NAME | restart NAME | log NAME]",
        run=run,
    )


async def plug_lsp(host: Host) -> Contribution:
    servers = LanguageServers(host)
    host.changes.listen(servers.wrote)
    host.live.listen(servers.changed)
    if (plugins := part_of(host.brought, PluginParts)) is not None:
        plugins.listen(servers.again)
    command = lsp_command(servers.run)
    return Contribution(
        sources=(servers,),
        commands=(lambda: (command,),),
        folds=(servers.saw,),
        brings=(servers.late,),
        parts=(servers,),
        close=(servers.close,),
    )


def wanted(around: Surroundings) -> bool:
    """Not where no turn is ever run, nor where nothing of the project is to count."""
    return not around.options.served and not around.options.bare


LSP = Extension(name="language servers", plug=plug_lsp, wanted=wanted)
