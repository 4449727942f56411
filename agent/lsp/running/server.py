"""The life of one server: started at its first use, restarted a few times, ended whole.

Between uses nothing of ours wakes up. Whatever happens to the process, what is known of it is of
one run: a new run knows nothing of the texts and findings of the one before.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, TypeAlias

import msgspec

from gatewright.agent.lsp.documents import Documents
from gatewright.agent.lsp.findings.fresh import Freshness
from gatewright.agent.lsp.running.definitions import Definition
from gatewright.agent.lsp.texts import Texts
from gatewright.agent.lsp.wire.capabilities import Abilities, hello
from gatewright.agent.lsp.wire.connection import (
    REGISTERED,
    Connection,
    Gone,
    Refused,
    decoded,
    pipes,
)
from gatewright.agent.lsp.wire.positions import uri_of
from gatewright.agent.lsp.wire.shapes import Initialized, Published
from gatewright.tools.protocol import Child, ToolFailure
from gatewright.tools.system.untyped_json import items, obj

IDLE = 15 * 60.0
DELAYS, HOUR = (1.0, 4.0, 16.0), 3600.0
UNANSWERED = 2  # timeouts in a row: it hangs
WATCHED, LOOKS = 20.0, 0.5  # seconds after a use in which its memory is looked at, and how often
END = 1.4  # seconds for its own goodbye at most
PROGRESS = 100
State: TypeAlias = Literal["idle", "starting", "ready", "restarting", "off"]


class Ports(msgspec.Struct, frozen=True, kw_only=True):
    """What a server needs of its surroundings."""

    start: Callable[[Definition, str, int, int], Awaitable[Child]]  # root, its stdin and stderr
    log: Callable[[str, bytes], None]
    memory: Callable[[int], int]
    told: Callable[[str], None]  # to the person, once
    changed: Callable[[], None]  # it has said something that somebody may wait for
    now: Callable[[], float]
    texts: Texts | None = None  # without them what lies on the disk


class Server:
    def __init__(self, definition: Definition, root: str, ports: Ports) -> None:
        self.definition, self.root, self._ports = definition, root, ports
        self.state: State = "idle"
        self.why = ""  # it is off, or was restarted
        self.fresh = Freshness()
        self.abilities = Abilities({})
        self.documents = self._no_documents()
        self.restarts = 0
        self._crashes: deque[float] = deque(maxlen=200)
        self._overfed = self._closing = False
        self._late, self._used = 0, ports.now()
        self._connection: Connection | None = None
        self._life: asyncio.Task[None] | None = None
        self._stop: asyncio.Future[str] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._watch: asyncio.TimerHandle | None = None
        self._ready = asyncio.Event()
        self._progress: set[str] = set()
        self._wanted: dict[str, str] = {}  # opened once it is ready: path -> language

    @property
    def name(self) -> str:
        return self.definition.name

    @property
    def pid(self) -> int:
        return self._connection.child.pid if self._connection is not None else 0

    @property
    def busy(self) -> bool:
        """Whether it says that it is still reading the project."""
        return bool(self._progress)

    def now(self) -> float:
        return self._ports.now()

    def memory(self) -> int:
        return self._ports.memory(self.pid) if self.pid else 0

    # --- use ---

    def use(self) -> None:
        """It is needed: begin it if it does not run, unless it is off."""
        if self._closing or self.state == "off":
            return
        self._used = self._ports.now()
        loop = asyncio.get_running_loop()
        if self._timer is None:
            self._timer = loop.call_later(IDLE, self._rested)
        self._watched()
        if self._life is None or self._life.done():
            self.state = "starting"
            self._life = asyncio.create_task(self._live(), name=f"language server {self.name}")

    def _watched(self) -> None:
        if self._watch is None:
            self._watch = asyncio.get_running_loop().call_later(LOOKS, self._weigh)

    async def ready(self, seconds: float) -> bool:
        """Begin it if need be, and wait until it can be asked."""
        self.use()
        if self.state in ("starting", "restarting"):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._ready.wait(), seconds)
        return self.state == "ready"

    def open(self, path: str, language: str) -> bool:
        """Whether it has the file's text now; one that is starting gets it then."""
        self.use()
        if self.state == "ready":
            return self.documents.open(path, language)
        self._wanted[path] = language
        return False

    async def ask(self, method: str, params: object, seconds: float = 0.0) -> msgspec.Raw:
        """Raises Refused, Gone or TimeoutError; who does not answer twice is taken for dead."""
        if self._connection is None or self.state != "ready":
            raise Gone("it does not run")
        self.use()
        connection = self._connection
        try:
            answer = await connection.request(
                method, params, seconds or self.definition.request_timeout
            )
        except TimeoutError:
            self._late += 1
            if self._late >= UNANSWERED and connection is self._connection:
                self._end_run("it did not answer twice in a row")
            raise
        self._late = 0
        return answer

    # --- one run after the other ---

    async def _live(self) -> None:
        while True:
            why = await self._run()
            if self._closing or why == "":
                self._now("idle")
                return
            self._crashes.append(self._ports.now())
            recent = sum(self._ports.now() - each < HOUR for each in self._crashes)
            if recent > self.definition.max_restarts or self.state == "off":
                self._off(why)
                return
            self.why, self.restarts = why, self.restarts + 1
            self._now("restarting")
            await asyncio.sleep(DELAYS[min(recent, len(DELAYS)) - 1])

    async def _run(self) -> str:
        """Why it ended; empty where we ended it."""
        self._now("starting")
        self._stop = asyncio.get_running_loop().create_future()
        self._late, self._progress, self._used = 0, set(), self._ports.now()
        self._watched()
        try:
            self._connection = await self._started()
        except ToolFailure as error:
            self.state = "off"
            return str(error)
        connection = self._connection
        try:
            greeted = asyncio.create_task(self._greet(connection), name="greeting a server")
            waits: set[asyncio.Future[Any]] = {connection.ended, self._stop}
            done, _ = await asyncio.wait({greeted, *waits}, return_when=asyncio.FIRST_COMPLETED)
            if greeted not in done:
                greeted.cancel()
                await asyncio.wait([greeted])
            elif not (why := greeted.result()):
                self._now("ready")
                self._open_wanted()
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            else:
                return why
            return self._stop.result() if self._stop.done() else connection.ended.result()
        finally:
            self._forget()
            await self._farewell(connection)

    async def _started(self) -> Connection:
        their_in, our_out, our_err, their_err = pipes()
        import os  # noqa: PLC0415  four descriptors, closed whatever happens

        try:
            child = await self._ports.start(self.definition, self.root, their_in, their_err)
        except BaseException:
            os.close(our_out)
            os.close(our_err)
            raise
        finally:
            os.close(their_in)
            os.close(their_err)
        return Connection(
            child, our_out, our_err, self, lambda data: self._ports.log(self.name, data)
        )

    async def _greet(self, connection: Connection) -> str:
        """Why it cannot be used; empty when it can."""
        given = self.definition
        options = given.initialization_options
        try:
            raw = await connection.request(
                "initialize", hello(self.root, options), given.startup_timeout
            )
        except TimeoutError:
            return f"it was not ready within {given.startup_timeout:g} s"
        except (Refused, Gone) as error:
            return str(error)
        said: Initialized | None = decoded(raw, Initialized)
        self.abilities = Abilities(said.capabilities if said is not None else {})
        self.fresh = Freshness()
        self.documents = Documents(
            connection.notify,
            lambda uri, version: self.fresh.sent(uri, version, self._ports.now()),
            self.fresh.closed,
            saves=self.abilities.saves,
            texts=self._ports.texts,
        )
        connection.notify("initialized", {})
        if given.settings is not None:
            connection.notify("workspace/didChangeConfiguration", {"settings": given.settings})
        return ""

    def _open_wanted(self) -> None:
        wanted, self._wanted = self._wanted, {}
        for path, language in wanted.items():
            self.documents.open(path, language)
        self._ports.changed()

    def _forget(self) -> None:
        """What the next run is told again."""
        self._wanted = {
            **{path: each.language for path in self.documents.paths
               if (each := self.documents.get(path)) is not None},
            **self._wanted,
        }  # fmt: skip
        self._connection, self.documents = None, self._no_documents()
        self.fresh = Freshness()

    async def _farewell(self, connection: Connection) -> None:
        with contextlib.suppress(TimeoutError, Gone, Refused):
            limit = min(self.definition.shutdown_timeout, END)
            if not connection.ended.done() and limit > 0 and self._late == 0:
                async with asyncio.timeout(limit):
                    await connection.request("shutdown", None, limit)
                    connection.notify("exit", None)
                    await connection.child.wait()
        await connection.close()

    def _no_documents(self) -> Documents:
        return Documents(_to_nobody, _to_nobody, _of_nothing)

    def _now(self, state: State) -> None:
        self.state = state
        (self._ready.set if state in ("ready", "off", "idle") else self._ready.clear)()
        self._ports.changed()

    def _off(self, why: str) -> None:
        self.why = why
        self._now("off")
        name = self.name
        self._ports.told(
            f"The language server {name} is off for this session: {why}. "
            f"/lsp log {name} shows what it said, /lsp restart {name} starts it anew."
        )

    def _end_run(self, why: str) -> None:
        if self._stop is not None and not self._stop.done():
            self._stop.set_result(why)

    # --- its idle hours, its size ---

    def _rested(self) -> None:
        self._timer = None
        left = self._used + IDLE - self._ports.now()
        if left > 0:
            self._timer = asyncio.get_running_loop().call_later(left, self._rested)
        else:
            self._wanted.clear()
            self.documents.close_all()
            self._end_run("")

    def _weigh(self) -> None:
        self._watch = None
        most = self.definition.memory_mb * 1024 * 1024
        if self.pid and self.memory() > most:
            self._ports.log(self.name, b"It held more memory than it may.\n")
            if self._overfed:
                self.state = "off"
            self._overfed = True
            self._end_run(f"it held more than {self.definition.memory_mb:,} MB of memory")
        elif self._ports.now() - self._used < WATCHED and self.state not in ("off", "idle"):
            self._watched()

    async def restart(self) -> None:
        """The person wants it anew, off or not."""
        await self._ended()
        self._crashes.clear()
        self._overfed, self._closing, self.state, self.why = False, False, "idle", ""
        self.use()

    async def close(self) -> None:
        self._closing = True
        await self._ended()

    async def _ended(self) -> None:
        self._closing = True
        for timer in (self._timer, self._watch):
            if timer is not None:
                timer.cancel()
        self._timer = self._watch = None
        self._end_run("")
        if self._life is not None and not self._life.done():
            if self._connection is None:  # it waits to be restarted, or for a sandbox
                self._life.cancel()
            await asyncio.wait([self._life])
        self._now("idle")

    # --- what it says by itself ---

    def notified(self, method: str, params: msgspec.Raw) -> None:
        match method:
            case "textDocument/publishDiagnostics":
                said: Published | None = decoded(params, Published)
                if said is not None and self.fresh.published(
                    said.uri, said.version, said.diagnostics, self._ports.now()
                ):
                    self._ports.changed()
            case "window/logMessage" | "window/showMessage":
                text = str(obj(decoded(params, Any)).get("message", ""))[:2000]
                self._ports.log(self.name, f"{text}\n".encode("utf-8", "replace"))
            case "$/progress":
                self._progressed(obj(decoded(params, Any)))
            case _:
                pass

    def _progressed(self, params: Mapping[str, Any]) -> None:
        token, kind = str(params.get("token"))[:100], obj(params.get("value")).get("kind")
        if kind == "begin" and len(self._progress) < PROGRESS:
            self._progress.add(token)
        elif kind == "end":
            self._progress.discard(token)
            self._ports.changed()

    def asked(self, method: str, params: msgspec.Raw) -> Any:
        match method:
            case "workspace/configuration":
                wanted = items(obj(decoded(params, Any)).get("items"))[:REGISTERED]
                return [self._section(str(obj(each).get("section") or "")) for each in wanted]
            case "workspace/applyEdit":
                return {"applied": False, "failureReason": "This client changes files itself."}
            case "workspace/workspaceFolders":
                return [{"uri": uri_of(self.root), "name": self.root.rpartition("/")[2]}]
            case "window/showDocument":
                return {"success": False}
            case "client/registerCapability":
                self.abilities.register(decoded(params, Any), REGISTERED)
                self._ports.changed()  # it may be asked now for what somebody waits for
                return None
            case "client/unregisterCapability":
                self.abilities.unregister(decoded(params, Any))
                return None
            case "window/workDoneProgress/create" | "window/showMessageRequest":
                return None
            case refresh if refresh.startswith("workspace/") and refresh.endswith("/refresh"):
                self._ports.changed()
                return None
            case _:
                raise LookupError(method)

    def _section(self, name: str) -> Any:
        found: Any = self.definition.settings
        for part in filter(None, name.split(".")):
            found = obj(found).get(part)
        return found


def _to_nobody(what: str, about: object) -> None:
    del what, about


def _of_nothing(uri: str) -> None:
    del uri
