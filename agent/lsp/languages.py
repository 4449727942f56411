"""The language servers of a session: which serves a file, and one process for a server and root.

Agents share them. Nothing is started before somebody changes a file of its kind, or asks of one.
"""

from __future__ import annotations

import asyncio
import os
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence

import msgspec

from gatewright.agent.lsp.running.definitions import Definition
from gatewright.agent.lsp.running.server import Ports, Server
from gatewright.agent.lsp.texts import Texts
from gatewright.agent.lsp.watching.patterns import Wanted
from gatewright.agent.lsp.watching.watch import CHANGED, Watch
from gatewright.agent.lsp.wire.connection import Gone, Refused, decoded
from gatewright.agent.lsp.wire.positions import uri_of
from gatewright.agent.lsp.wire.shapes import Pulled
from gatewright.tools.system.exact import real_path

RUNNING = 12  # servers of a session
READS = 5.0  # seconds for the first word of a file that was just opened
AGAIN, TRIES = 0.05, 5  # a pull that it had no time for
REMEMBERED = 1000  # files of which it is known whether git ignores them


class Place(msgspec.Struct, frozen=True):
    """Where servers may be: the real roots of the project."""

    roots: tuple[str, ...]

    def root_of(self, path: str) -> str:
        """The project directory that holds it; empty outside."""
        held = [root for root in self.roots if path.startswith(root.rstrip("/") + "/")]
        return max(held, key=len, default="")


class LanguagePorts(msgspec.Struct, frozen=True, kw_only=True):
    server: Callable[[Callable[[], None]], Ports]  # given what is called when one has news
    place: Callable[[], Place]
    offered: Callable[[str], Sequence[Definition]]  # for a file, the first navigates
    ignored: Callable[[str], Awaitable[bool]]
    left_out: Callable[[str], Awaitable[Collection[str]]]  # of a directory: all that git ignores
    told: Callable[[str], None]
    texts: Texts = msgspec.field(default_factory=Texts)


class Languages:
    def __init__(self, ports: LanguagePorts) -> None:
        self.ports, self.texts = ports, ports.texts
        self._servers: dict[tuple[str, str], Server] = {}
        self._waiting: set[asyncio.Future[None]] = set()
        self._pulling: dict[tuple[Server, str, int], asyncio.Task[None]] = {}
        self._owned: set[asyncio.Future[object]] = set()
        self._ignored: OrderedDict[str, bool] = OrderedDict()
        self._untold: dict[Server, dict[str, int]] = {}  # changed beside what each has open
        self.watch = Watch(ports.left_out)
        self._closed = self._full = False
        self.awaited: Callable[[], Iterable[str]] = tuple  # files whose findings somebody awaits

    @property
    def all(self) -> Sequence[Server]:
        return tuple(self._servers.values())

    def ready(self) -> Sequence[Server]:
        return tuple(each for each in self._servers.values() if each.state == "ready")

    # --- which serves a file ---

    def serves(self, path: str) -> bool:
        """Whether a real path lies in the project and there is a server for such files."""
        return bool(self._offered(path)[1])

    def of(self, path: str) -> Sequence[Server]:
        """Those for a file, begun or not, the one that navigates first."""
        base, offered = self._offered(path)
        found = [self._one(each, path, base) for each in offered]
        return tuple(each for each in found if each is not None)

    def _offered(self, path: str) -> tuple[str, Sequence[Definition]]:
        """The project directory that holds it, and who could serve it."""
        base = "" if self._closed else self.ports.place().root_of(path)
        return base, self.ports.offered(path) if base else ()

    def _one(self, definition: Definition, path: str, base: str) -> Server | None:
        key = definition.name, root_of(path, base, definition.root_markers)
        known = self._servers.get(key)
        if known is not None and known.definition.signature == definition.signature:
            return known
        if known is None and len(self._servers) >= RUNNING:
            if not self._full:
                self._full = True
                self.ports.told(f"No more than {RUNNING} language servers run in a session.")
            return None
        if known is not None:  # it is written down otherwise now
            self._own(known.close())
        made = Server(definition, key[1], self.ports.server(self.rang))
        self._servers[key] = made
        return made

    def _own(self, work: Awaitable[object]) -> None:
        task = asyncio.ensure_future(work)
        self._owned.add(task)
        task.add_done_callback(self._owned.discard)

    def begin(self, path: str) -> None:
        """Open it without waiting for that."""
        self._own(self.open(path))

    async def open(self, path: str) -> Sequence[Server]:
        """The servers that have the file, or will once they run; none for one that is left out."""
        if not self.serves(path) or await self._is_ignored(path):
            return ()
        serving = self.of(path)
        if not any(each.documents.get(path) for each in serving):
            await self.texts.look((path,))  # an editor may have it otherwise
        for server in serving:
            server.open(path, server.definition.language(path))
        return serving

    async def _is_ignored(self, path: str) -> bool:
        if path not in self._ignored:
            found = await self.ports.ignored(path)
            self._ignored[path] = found
            while len(self._ignored) > REMEMBERED:
                self._ignored.popitem(last=False)
        return self._ignored[path]

    def opened(self) -> set[str]:
        """The files that any of them has."""
        return {path for server in self.ready() for path in server.documents.paths}

    async def renewed(self, more: Iterable[str] = ()) -> set[str]:
        """The same as `renew`, with what an editor has of all that is open by now."""
        await self.texts.look((*more, *sorted(self.opened())))
        return self.renew()

    def renew(self) -> set[str]:
        """Send what changed since; the files that did."""
        return {path for server in self.ready() for path in server.documents.renew()}

    # --- what changed beside what they have open ---

    def _alive(self) -> Sequence[Server]:
        return [each for each in self.all if each.state in ("starting", "ready", "restarting")]

    def unwatched(self) -> bool:
        """Whether one has begun below a directory that was not looked through yet."""
        return not all(self.watch.knows(each.root) for each in self._alive())

    async def look(self, sent: Collection[str] = ()) -> bool:
        """Find what changed and tell it, but for changes that are sent as texts; whether any was.

        One that is still starting may have read what was there before: it hears of it later.
        """
        alive = self._alive()
        wanted = [Wanted(each.root, each.definition, each.abilities.watched) for each in alive]
        for path, kind in await self.watch.look(wanted):
            for server, each in zip(alive, wanted, strict=True):
                if each.wants(path):
                    self._untold.setdefault(server, {})[path] = kind
        told = [self._tell(server, sent) for server in self.ready()]
        for server in self._untold.keys() - set(self._alive()):  # a new run reads it all
            del self._untold[server]
        return any(told)

    def _tell(self, server: Server, sent: Collection[str]) -> bool:
        found = [
            (path, kind)
            for path, kind in self._untold.pop(server, {}).items()
            if kind != CHANGED or not (path in sent or server.documents.get(path))
        ]
        if found:
            server.documents.beside(found)
            server.fresh.stirred(server.now())
        return bool(found)

    def stop_all(self) -> None:
        """None is to run any more; what is needed again begins again."""
        gone, self._servers = self._servers, {}
        for each in gone.values():
            self._own(each.close())

    def close_documents(self) -> None:
        self.texts.forget()
        for server in self._servers.values():
            server.documents.close_all()

    # --- what they find ---

    def rang(self) -> None:
        """A server has news: who waits looks again, and what is awaited is asked for."""
        for each in self._waiting:
            if not each.done():
                each.set_result(None)
        if not self._closed:
            for path in self.awaited():
                self.pull(path)

    def pull(self, path: str) -> None:
        """Ask those servers that answer such a question, once for each text."""
        for server in self.ready():
            if server.abilities.pulls and server.definition.diagnostics:
                self._pull(server, path)

    def still(self, server: Server) -> bool:
        """Whether it has nothing more to say of the last change: nor owes an answer."""
        asked = any(each is server for each, _, _ in self._pulling)
        return not asked and server.fresh.still(server.now())

    def _pull(self, server: Server, path: str) -> None:
        known = server.documents.get(path)
        if known is None:
            return
        key = server, known.uri, server.fresh.edits
        if key in self._pulling or self._answered(server, known.uri):
            return
        task = asyncio.create_task(
            self._pulled(server, known.uri, known.version), name="asking for diagnostics"
        )
        self._pulling[key] = task
        task.add_done_callback(lambda _: self._pulling.pop(key, None))

    def _answered(self, server: Server, uri: str) -> bool:
        held = server.fresh.fresh(uri, server.now())
        return held is not None and (
            held.edit == server.fresh.edits or not server.abilities.pulls_others
        )

    async def _pulled(self, server: Server, uri: str, version: int) -> None:
        params: dict[str, object] = {"textDocument": {"uri": uri}}
        if server.abilities.pull_name is not None:
            params["identifier"] = server.abilities.pull_name
        for _ in range(TRIES):
            edit, fresh = server.fresh.edits, server.fresh
            try:
                raw = await server.ask("textDocument/diagnostic", params)
            except Refused as error:
                if not error.again or fresh.version(uri) != version:
                    return
                await asyncio.sleep(AGAIN)
                continue
            except (Gone, TimeoutError):
                return
            said: Pulled | None = decoded(raw, Pulled)
            if said is not None and said.kind == "full":
                fresh.pulled(uri, version, said.items, server.now(), edit=edit)
                self.rang()
            return

    async def until_fresh(self, paths: Sequence[str], seconds: float) -> bool:
        """Wait for the findings of the texts as they were sent last, and no longer."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        while not self.are_fresh(paths):
            for path in paths:  # of one that has said only now that it can be asked, too
                self.pull(path)
            left = deadline - loop.time()
            if left <= 0:
                return False
            uris = [uri_of(path) for path in paths]
            dues = ((each.fresh.due(uris), each.now()) for each in self.ready())
            due = min((at - now for at, now in dues if at is not None), default=left)
            await self._news(min(left, due))
        return True

    async def until_read(self, server: Server, path: str, seconds: float) -> bool:
        """Wait until it has read what the file belongs to, as far as it says so."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        await self.until_fresh((path,), min(seconds, READS))
        while server.busy and server.state == "ready":
            if (left := deadline - loop.time()) <= 0:
                return False
            await self._news(left)
        return True

    async def _news(self, seconds: float) -> None:
        """Until a server has said something, and no longer."""
        waits = asyncio.get_running_loop().create_future()
        self._waiting.add(waits)
        try:
            await asyncio.wait([waits], timeout=max(0.001, seconds))
        finally:
            self._waiting.discard(waits)

    def are_fresh(self, paths: Sequence[str]) -> bool:
        return all(
            server.fresh.fresh(known.uri, server.now()) is not None
            for server in self.ready()
            if server.definition.diagnostics
            for path in paths
            if (known := server.documents.get(path)) is not None
        )

    async def close(self) -> None:
        self._closed = True
        for task in tuple(self._pulling.values()):
            task.cancel()
        await asyncio.gather(*self._owned, *(each.close() for each in self.all))


def root_of(path: str, base: str, markers: Sequence[str]) -> str:
    """The nearest directory above the file that has a marker, up to the project's own."""
    at = os.path.dirname(path)  # noqa: PTH120
    while at != base and at.startswith(base):
        if any(os.path.lexists(f"{at}/{name}") for name in markers if "/" not in name):
            return at
        at = os.path.dirname(at)  # noqa: PTH120
    return base


def real(path: str) -> str:
    """Where it really lies, however it was named."""
    return real_path(path)
