"""Version 1 of the Agent Client Protocol over one connection: its methods and its sessions.

A session belongs to the connection that opened it; an id of any other is unknown here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec
from msgspec.structs import replace

from gatewright.agent.client.brought import Brought
from gatewright.agent.context.file_judge import pictures
from gatewright.agent.errors import GatewrightError, SessionHeld
from gatewright.agent.frontends.acp import auth_methods, params, stored_sessions
from gatewright.agent.frontends.acp.acp_consent import Consent
from gatewright.agent.frontends.acp.editor_files import EditorFiles
from gatewright.agent.frontends.acp.jsonrpc import AUTH, BAD_PARAMS, DEFECT, INVALID, Peer, RpcError
from gatewright.agent.frontends.acp.offered_options import own_terminal
from gatewright.agent.frontends.acp.open_session import OpenSession
from gatewright.agent.frontends.acp.prompt_blocks import Message, message_of
from gatewright.agent.frontends.acp.servers_given import as_entries
from gatewright.agent.frontends.acp.terminals.editor_terminals import EditorTerminals
from gatewright.agent.frontends.acp.whole_texts import on_disk
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.session.session import Session
from gatewright.agent.settings.paths import own_home
from gatewright.agent.version import VERSION
from gatewright.tools.access import MAIN
from gatewright.tools.protocol import Content, JsonObject
from gatewright.tools.system.untyped_json import Json
from gatewright.tools.textfiles import TextFiles

PROTOCOL = 1
MOST = 64  # sessions that one connection has open
DIRECTORIES = 64
NO_KEY = "No key is found yet. {}"
HELD = "Another process works on this session. Close it there, or fork it (session/fork): a copy."
EMPTY = "> Nothing is stored of this session: it begins empty.\n\n"
T = TypeVar("T")


class Opener(Protocol):
    """Opens a session as a start of the program does."""

    def __call__(self, options: LaunchOptions, client: Brought) -> Awaitable[Session]: ...


class Ports(msgspec.Struct, frozen=True):
    """`loaded` brings the core in, so that the first session is there at once."""

    open: Opener
    disk: TextFiles
    env: Mapping[str, str]
    loaded: Callable[[], Awaitable[None]]


class EditorAgent:
    """`options` hold for every session of the connection."""

    def __init__(self, peer: Peer, options: LaunchOptions, ports: Ports) -> None:
        self._peer, self._options, self._ports = peer, options, ports
        self._home = own_home(ports.env)
        self._client = params.Capabilities()
        self.greeted = False
        self._sessions: dict[str, OpenSession] = {}
        self._loading = asyncio.Lock()  # two who load one session get one
        self._opening = 0
        peer.methods.update(
            {
                "initialize": self._of(params.Initialize, self.initialize),
                "authenticate": self._of(params.Authenticate, self.authenticate),
                "session/new": self._of(params.NewSession, self.new),
                "session/load": self._of(params.StoredSession, self.load),
                "session/resume": self._of(params.StoredSession, self.resume),
                "session/fork": self._of(params.StoredSession, self.fork),
                "session/list": self._of(params.ListSessions, self.list),
                "session/close": self._of(params.Named, self.close_one),
                "session/prompt": self._of(params.Prompt, self.prompt),
                "session/set_mode": self._of(params.SetMode, self.set_mode),
                "session/set_config_option": self._of(params.SetOption, self.set_option),
            }
        )
        peer.heard["session/cancel"] = self._of(params.Named, self.cancel)

    def _of(
        self, kind: type[T], does: Callable[[T], Awaitable[object]]
    ) -> Callable[[bytes], Awaitable[object]]:
        """Reads what is asked for as what it has to be; nothing is answered before initialize."""

        async def method(raw: bytes) -> object:
            wanted = msgspec.json.decode(raw, type=kind)
            if not self.greeted and kind is not params.Initialize:
                raise RpcError(INVALID, "Send initialize first.")
            return await does(wanted)

        return method

    def stop(self) -> None:
        """The client says no more: no turn of its sessions goes on."""
        for opened in self._sessions.values():
            opened.prompts.cancel()

    async def close(self) -> None:
        """The client is gone: every session ends, each in its own time."""
        closing = [one.close() for one in self._sessions.values()]
        self._sessions.clear()
        await asyncio.gather(*closing, return_exceptions=True)

    # before any session

    async def initialize(self, wanted: params.Initialize) -> Json:
        self._client = wanted.client_capabilities or params.Capabilities()
        self.greeted = True
        await self._ports.loaded()
        sessions: Json = {
            name: {} for name in ("list", "resume", "fork", "close", "additionalDirectories")
        }
        return {
            "protocolVersion": PROTOCOL,
            "agentInfo": {"name": "gatewright", "title": "Gatewright", "version": VERSION},
            "agentCapabilities": {
                "loadSession": True,
                "promptCapabilities": {"image": True, "audio": False, "embeddedContext": True},
                "mcpCapabilities": {"http": True, "sse": True},
                "sessionCapabilities": sessions,
            },
            "authMethods": self._auth(),
        }

    def _auth(self) -> list[Json]:
        return auth_methods.methods(terminal=self._client.terminal_login)

    async def authenticate(self, wanted: params.Authenticate) -> Json:
        told = self._auth()
        method = next((one for one in told if one["id"] == wanted.method_id), None)
        if method is None:
            raise RpcError(BAD_PARAMS, f"There is no way {wanted.method_id[:60]!r} to log in.")
        if not await asyncio.to_thread(auth_methods.has_key, self._options, self._ports.env):
            do = "Give the editor's entry for this agent the variable, and start it again."
            if method["type"] == "terminal":
                do = "Run agent login in a terminal."
            raise RpcError(AUTH, NO_KEY.format(do), {"authMethods": told})
        return {}

    async def list(self, wanted: params.ListSessions) -> Json:
        cwd, cursor = wanted.cwd or "", wanted.cursor or ""
        return await asyncio.to_thread(stored_sessions.page, self._home, cwd, cursor)

    # opening

    async def new(self, wanted: params.NewSession) -> Json:
        opened = await self._open(wanted)
        return {"sessionId": opened.session.id, **await self._begun(opened, wanted)}

    async def load(self, wanted: params.StoredSession) -> Json:
        return await self._stored(wanted, replay=True)

    async def resume(self, wanted: params.StoredSession) -> Json:
        return await self._stored(wanted, replay=False)

    async def fork(self, wanted: params.StoredSession) -> Json:
        path = await asyncio.to_thread(stored_sessions.file_of, self._home, wanted.session_id)
        if path is not None:
            opened = await self._open(wanted, resume=str(path), fork_session=True)
        else:
            opened = await self._open(wanted)
        return {"sessionId": opened.session.id, **await self._begun(opened, wanted)}

    async def _stored(self, wanted: params.StoredSession, *, replay: bool) -> Json:
        """One that is open here is that one."""
        id = wanted.session_id
        async with self._loading:
            if (opened := self._sessions.get(id)) is not None:
                if replay:
                    await opened.replay()
                return opened.configured()
            path = await asyncio.to_thread(stored_sessions.file_of, self._home, id)
            try:
                how = {"resume": str(path)} if path is not None else {"session_id": id}
                opened = await self._open(wanted, **how)
            except SessionHeld as error:
                raise RpcError(DEFECT, HELD) from error
            told = await self._begun(opened, wanted, replay=replay)
            if path is None:
                opened.say(EMPTY)
            return told

    async def _options_for(self, wanted: params.Place) -> LaunchOptions:
        """Raises RpcError for a place that is none."""
        more = wanted.additional_directories or []
        if len(more) > DIRECTORIES:
            raise RpcError(BAD_PARAMS, f"More than {DIRECTORIES} additional directories.")
        cwd = await asyncio.to_thread(stored_sessions.directory, wanted.cwd)
        dirs = [str(await asyncio.to_thread(stored_sessions.directory, text)) for text in more]
        options = self._options
        return replace(
            options,
            cwd=str(cwd),
            add_dirs=(*options.add_dirs, *dirs),
        )

    async def _open(self, wanted: params.Place, **how: str | bool) -> OpenSession:
        """`how` are options of a stored session. Raises RpcError where there are too many."""
        if len(self._sessions) + self._opening >= MOST:
            raise RpcError(DEFECT, f"{MOST} sessions are open here. Close one.")
        self._opening += 1
        try:
            options = replace(await self._options_for(wanted), **how)
            return await self._made(options, as_entries(wanted.mcp_servers or []))
        finally:
            self._opening -= 1

    async def _made(self, options: LaunchOptions, servers: Mapping[str, JsonObject]) -> OpenSession:
        peer = self._peer
        files = self._files() if self._client.files else None
        terminals = EditorTerminals(peer) if self._client.terminal else None
        client = Brought(files=files, servers=servers, terminal=terminals)
        session = await self._ports.open(options, client)
        consent = Consent(peer, forms=self._client.forms)
        text_of = files.latest if files is not None else on_disk
        opened = OpenSession(session, peer, consent, self._auth, text_of)
        if files is not None:
            files.session = session.id
            files.roots = lambda: (opened.where.root, *opened.where.added)
            files.tell = opened.say_of_file
            files.raced = session.jobs_of(MAIN).all.side_by_side
        if terminals is not None:
            terminals.session = session.id
            terminals.opened = opened.show_terminal
            terminals.wanted = partial(own_terminal, session)
        self._sessions[session.id] = opened
        return opened

    def _files(self) -> EditorFiles:
        return EditorFiles(self._peer, self._ports.disk)

    async def _begun(
        self, opened: OpenSession, wanted: params.Place, *, replay: bool = False
    ) -> Json:
        """Raises RpcError, and then it is closed again."""
        try:
            await opened.begin(replay=replay)
            if wanted.meta is not None and wanted.meta.permission_mode:
                await opened.options.set_mode(wanted.meta.permission_mode)
            await opened.session.keep()  # the client has its id from now on
        except (RpcError, GatewrightError):
            self._sessions.pop(opened.session.id, None)
            await opened.close()
            raise
        return opened.configured()

    # one session

    async def close_one(self, wanted: params.Named) -> Json:
        opened = self.opened(wanted.session_id)
        del self._sessions[wanted.session_id]
        await opened.close()
        return {}

    async def prompt(self, wanted: params.Prompt) -> Json:
        opened = self.opened(wanted.session_id)

        async def read() -> Message:
            return await message_of(wanted.prompt, opened.where, shrunk)

        return await opened.prompts.answer(read)

    async def cancel(self, wanted: params.Named) -> None:
        self.opened(wanted.session_id).prompts.cancel()

    async def set_mode(self, wanted: params.SetMode) -> Json:
        opened = self.opened(wanted.session_id)
        await opened.options.set_mode(wanted.mode_id)
        await opened.session.keep()
        return {}

    async def set_option(self, wanted: params.SetOption) -> Json:
        opened = self.opened(wanted.session_id)
        await opened.options.choose(wanted.config_id, wanted.value)
        await opened.session.keep()
        return {"configOptions": opened.options.told()}

    def opened(self, id: str) -> OpenSession:
        """Raises RpcError."""
        if (opened := self._sessions.get(id)) is None:
            raise stored_sessions.unknown(id)
        return opened


async def shrunk(data: bytes) -> Content | None:
    """An image as a model may get it; None for what is none."""
    return await asyncio.to_thread(pictures(), data, Path("image"))
