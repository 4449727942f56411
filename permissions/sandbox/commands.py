"""The sandbox as the gate uses it: which commands run in it, and what their results mean.

Everything heavy is loaded when the first command is about to be judged, off the event loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from gatewright.permissions.context import Context
from gatewright.permissions.decision import Named
from gatewright.permissions.sandbox.leaving import inside_again
from gatewright.permissions.sandbox.naming import spelled
from gatewright.permissions.sandbox.port import CLOSED, Offer, Opening
from gatewright.permissions.sandbox.problems import problems
from gatewright.permissions.sandbox.restrictions import Restrictions
from gatewright.permissions.sandbox.running.call import Call, noted
from gatewright.tools.access import Access
from gatewright.tools.blocks import Block, Text
from gatewright.tools.interact import Ask, Option
from gatewright.tools.protocol import Asker, Confinement, SpawnRequest, ToolFailure, ToolResult
from gatewright.tools.system.home import OwnHome
from gatewright.tools.system.patterns import later
from gatewright.tools.system.secrets import Secrets

if TYPE_CHECKING:
    from gatewright.permissions.sandbox.config import Config, SandboxSettings
    from gatewright.permissions.sandbox.confinement import Sandbox
    from gatewright.permissions.sandbox.disk.aside import Aside
    from gatewright.permissions.sandbox.limits import Limits
    from gatewright.permissions.sandbox.network.egress import Egress
    from gatewright.permissions.sandbox.probe import Found
    from gatewright.permissions.sandbox.profile import Network

_COMPOUND = later(r"[;&|<>()`\n\\$]")
OFF = "Commands are not confined: the sandbox is switched off."


class Base(msgspec.Struct, frozen=True):
    """Where the session is."""

    cwd: Path
    home: Path
    roots: tuple[Path, ...]
    own_home: OwnHome


def _domain_question(host: str, port: int) -> Ask:
    return Ask(
        kind="permission",
        title="Let sandboxed commands reach this host?",
        body=(Text(f"{host}:{port}"),),
        options=(Option("yes", "Yes, in this session", "y"), Option("no", "No", "n")),
        reason="It is not among sandbox.network.allowedDomains.",
        tool="Bash",
    )


def _spelled_out(names: tuple[Named, ...]) -> Opening:
    """Of a command outside only what its line names is known to be its own work."""
    return Opening(writes={one.path: None for one in names if one.exact and one.use != "read"})


class CommandSandbox(msgspec.Struct, eq=False):
    """The session's sandbox, as the gate knows it. Nothing of that raises."""

    base: Base
    settings: SandboxSettings
    restrictions: Callable[[], Restrictions] = Restrictions
    warn: Callable[[str], None] = lambda _: None
    unconfined: Callable[[str], None] = lambda _: None  # told once why commands run outside
    secrets: Callable[[], Secrets] = Secrets
    _box: Sandbox | None = None
    _found: Found | None = None
    _egress: Egress | None = None
    _loop: asyncio.AbstractEventLoop | None = None  # that the box was opened on
    _limits: Limits | None = None  # the last that were valid
    _wrong: tuple[str, ...] = ()  # what was said of those that are not
    temp: Path | None = None  # the session's own, made with the first command
    _trying: asyncio.Lock = msgspec.field(default_factory=asyncio.Lock)
    _asker: Asker | None = None
    _running: list[Call] = msgspec.field(default_factory=list[Call])
    _off: str = ""
    _closed: bool = False
    _untold: list[str] = msgspec.field(default_factory=list[str])  # for the model, next time

    # --- the port ---

    async def ready(self, access: Access) -> Access:
        """Find out what works here, once; the facts as they count with that."""
        if access.runs is None:
            return access
        await self._begun()
        if access.runs.unsandboxed and not self.settings.allow_unsandboxed_commands:
            return inside_again(access, access.runs)
        return access

    async def _begun(self) -> None:
        async with self._trying:
            if self._box is None and not self._off and not self._closed:
                await self._start()

    async def opened(self) -> Sandbox | None:
        """What confines programs wholly; None: `status` may say why nothing does."""
        await self._begun()
        whole = self._found is not None and self._found.level == "bwrap"
        if self.settings.enabled is False or not whole:
            return None
        self._follow()
        return self._box

    def refusal(self, access: Access) -> str:
        """Why a command must not run at all, or an empty string."""
        if access.runs is None or self._box is not None:
            return ""
        if self._closed:
            return "The session has ended."
        if self.settings.enabled is False or not self.settings.fail_if_unavailable:
            return ""
        return f"Commands run only in the sandbox (sandbox.failIfUnavailable). {self._off}"

    def judged(self, context: Context, access: Access) -> Context:
        """The context with what is true of the sandbox for this very call."""
        if access.runs is None:
            return context
        inside = self._box is not None and not self._excluded(access)
        whole = self._found is not None and self._found.level == "bwrap"
        owes = self._box is not None and self._box.owes
        allows = inside and whole and not owes and self.settings.auto_allow_bash_if_sandboxed
        return msgspec.structs.replace(context, sandbox=inside, sandbox_allows=allows)

    def offer(self, access: Access, names: tuple[Named, ...]) -> Offer:
        """What becomes of these files if a person says yes to the call."""
        if self._box is None or access.runs is None or not names:
            return Offer()
        if access.runs.unsandboxed or self._excluded(access):
            return Offer(_spelled_out(names))
        self._follow()
        return self._box.offer(names)

    def enter(
        self, access: Access, ask: Asker, opening: Opening = CLOSED, root: Path | None = None
    ) -> Confinement | None:
        """For a call that was allowed, from a work tree if `root` is one; None: it runs outside."""
        if self._box is None:
            return None
        if access.runs is None or access.runs.unsandboxed or self._excluded(access):
            if access.runs is not None or access.writes:
                self._box.check()
            self._box.approved(id(access), (*map(str, access.writes), *opening.writes))
            return None
        self._asker = ask
        self._follow()
        leave = self.settings.allow_unsandboxed_commands
        command = access.runs.command
        call = Call(self._box, self._tell, command, may_leave=leave, opening=opening)
        call.within = self._tree(root)
        self._running.append(call)
        del self._running[:-8]
        return call

    def left(self, access: Access, confined: Confinement | None) -> None:
        """The call is over."""
        if self._box is None:
            return
        if isinstance(confined, Call):
            with contextlib.suppress(ValueError):
                self._running.remove(confined)
        else:
            self._box.made(id(access))
        self._box.check()

    def explained(self, confined: Confinement | None, result: ToolResult) -> ToolResult:
        """The result with what the sandbox has to say about it, for the model."""
        texts, self._untold = self._untold, []
        if isinstance(confined, Call):
            result = confined.explained(result)
        return noted(result, texts)

    def _tell(self, texts: list[str]) -> None:
        """For the person at once, for the model with the next result: its call's own, mostly."""
        self._untold.extend(texts)
        for text in texts:
            self.warn(f"Sandbox: {spelled(text)}.".replace("..", "."))

    async def stand_by(self, request: SpawnRequest, root: Path) -> None:
        """Have a shell wait inside for such a command; where none can, the first command tells."""
        with contextlib.suppress(OSError, ValueError, ToolFailure):
            async with self._trying:
                off = self._off or self._closed or self.settings.enabled is False
                if self._box is None and not off and (await self._works()).level == "bwrap":
                    await self._start()
            if self._box is not None and not self._off:
                self._follow()
                self._box.stand_by(request, within=self._tree(root))

    def _tree(self, root: Path | None) -> str:
        """The work tree that this is, or an empty string."""
        return "" if root is None or root in self.base.roots else str(root)

    # --- the rest ---

    def settled(self, path: Path) -> bool:
        """Whether no command in the sandbox can have written this since we last looked after them.

        Whatever is read as an order to us asks here first: settings, and all that names programs.
        """
        return self._box is None or self._box.settled(str(path))

    def take(
        self, settings: SandboxSettings, roots: tuple[Path, ...], secrets: Callable[[], Secrets]
    ) -> None:
        """What settings say now counts from the next command on; for connections at once."""
        known, was_off = self.problems, self.settings.enabled is False
        self.settings, self.secrets = settings, secrets
        self.base = msgspec.structs.replace(self.base, roots=roots)
        for problem in self.problems:
            if problem not in known:
                self.warn(problem)
        if settings.enabled is not False:
            self._off = "" if self._off == OFF else self._off
        elif not was_off and self._box is not None:
            self._box.rest()
            self._off = OFF
            self.unconfined(OFF)
        self._follow()

    def _follow(self) -> None:
        """What is closed to commands is what holds now, not when the first of them ran."""
        if self._box is not None:
            config = self._config()
            self._bridge(self._box, config.network)
            self._box.follow(config)

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong with the path globs of the settings, one sentence each."""
        return problems(self.settings.filesystem)

    @property
    def status(self) -> str:
        """Why commands are not confined; empty when they are, or when nothing ran yet."""
        return self._off

    def _excluded(self, access: Access) -> bool:
        """A plain command that the settings name; anything compound stays inside.

        All are outside once the sandbox is switched off.
        """
        if self.settings.enabled is False:
            return True
        if access.runs is None or _COMPOUND.search(access.runs.command):
            return False
        words = access.runs.command.split()
        given = self.settings.excluded_commands
        starts = (text.removesuffix("*").rstrip(" :").split() for text in given)
        return any(each and words[: len(each)] == each for each in starts)

    async def _start(self) -> None:
        if self.settings.enabled is False:
            self._off = OFF
            self.unconfined(OFF)
            return
        found: Found | None = None
        try:
            found = await self._works()
            if self._closed:
                return
            if found.level in ("bwrap", "landlock"):
                self._box = self._open(found)
        except (OSError, ValueError) as error:
            self._off = f"Commands are not confined: {error}."
        else:
            if self._box is None:
                self._off = f"Commands are not confined. {found.why}"
        if self._off:
            self.unconfined(self._off)
            self.warn(self._off)
        elif found is not None and found.level != "bwrap":
            self.warn(f"Landlock alone confines commands. {found.why}")

    async def _works(self) -> Found:
        if self._found is None:
            self._found = await asyncio.to_thread(self._prepare)
        return self._found

    def _prepare(self) -> Found:
        """In a thread: the imports and the probe take some milliseconds."""
        from gatewright.permissions.sandbox import confinement, probe  # noqa: PLC0415  lazy: 15 ms
        from gatewright.permissions.sandbox.machine import machine  # noqa: PLC0415  lazy

        del confinement
        return probe.probe(machine())

    def _open(self, found: Found) -> Sandbox:
        from gatewright.permissions.sandbox.confinement import Sandbox  # noqa: PLC0415  lazy
        from gatewright.permissions.sandbox.machine import machine  # noqa: PLC0415  lazy

        self._loop = asyncio.get_running_loop()
        self.temp = Path(tempfile.mkdtemp(prefix="gatewright-"))
        config = self._config()
        box = Sandbox(config, machine(), level=found.level)
        self._bridge(box, config.network)
        box.janitor.watch((f"{self.temp}/",))
        box.begin()
        return box

    def _bridge(self, box: Sandbox, network: Network) -> None:
        """Connections follow this network; the proxy is made when there first is a need."""
        if self._egress is not None:
            self._egress.network = network
        elif network.reach == "proxy" and self._loop is not None:
            from gatewright.permissions.sandbox.network.bridge import Bridge  # noqa: PLC0415  lazy: 8 ms
            from gatewright.permissions.sandbox.network.egress import Egress  # noqa: PLC0415  lazy
            from gatewright.permissions.sandbox.network.proxy import Proxy  # noqa: PLC0415  lazy

            self._egress = Egress(network, ask=self._ask_domain, refused=self._heard)
            box.bridge = Bridge(Proxy(self._egress), self._loop)

    def _config(self) -> Config:
        from gatewright.permissions.sandbox import config as configs  # noqa: PLC0415  lazy

        base = self.base
        config = configs.configured(
            configs.Config(
                cwd=base.cwd,
                home=base.home,
                roots=base.roots,
                temp=self.temp,
                state=Path(base.own_home.path) / "state",
                back="/sandbox restore",
                own_home=base.own_home,
                secrets=self.secrets(),
            ),
            self.settings,
        )
        before = config.limits if self._limits is None else self._limits
        self._limits, wrong = configs.limited(self.settings.limits, before)
        for text in wrong:
            if text not in self._wrong:
                self.warn(f"sandbox.limits: {text} It is ignored.")
        self._wrong = tuple(wrong)
        return configs.restricted(replace(config, limits=self._limits), self.restrictions())

    def _heard(self, host: str, why: str) -> None:
        for call in self._running:
            call.hear(why)
        if self._box is not None:
            self._box.violations.add(host, (why,))

    async def _ask_domain(self, host: str, port: int) -> bool:
        asked = self._asker
        return asked is not None and (await asked(_domain_question(host, port))).choice == "yes"

    def panel(self) -> tuple[Block, ...]:
        """What `/sandbox` shows."""
        if self._box is None or self._off:
            return (Text(self._off or "No command ran yet; the sandbox starts with the first."),)
        from gatewright.permissions.sandbox.explain import panel  # noqa: PLC0415  lazy: 1 ms

        assert self._found is not None
        waiting = self._aside().waiting(self._box.roots)
        recent = self._box.violations.recent()
        return panel(self._box.profile(self.base.cwd), self._found, recent, waiting)

    def in_a_line(self) -> str:
        """What `/status` says."""
        if self._box is None or self._found is None:
            return self._off or "it starts with the first command"
        return f"on ({self._found.level}), /sandbox shows it"

    def restore(self, number: str) -> tuple[Block, ...]:
        """Take back what was put aside under this number, because the person says so."""
        from gatewright.permissions.sandbox.disk.aside import sentences  # noqa: PLC0415  lazy: 1 ms

        return tuple(Text(text) for text in sentences(self._aside(), number, str(self.base.cwd)))

    def _aside(self) -> Aside:
        from gatewright.permissions.sandbox.disk.aside import ASIDE, Aside  # noqa: PLC0415  lazy: 1 ms

        return Aside(str(Path(self.base.own_home.path) / "state" / ASIDE))

    async def close(self) -> None:
        """End with the session: nothing is left on disk, and nothing begins any more."""
        self._closed = True
        if self.temp is not None:
            await asyncio.to_thread(shutil.rmtree, self.temp, ignore_errors=True)
        if self._box is not None:
            await self._box.at_rest()
            self._box.close()
            self._box = None
