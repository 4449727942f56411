"""The sandbox of a session: prepares each run, and takes everything away after it.

Single-threaded by contract: `confine` and the end of a run happen on the session's event loop.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec
from msgspec.structs import replace

from gatewright.permissions.decision import Named
from gatewright.permissions.paths import inside
from gatewright.permissions.sandbox.config import Config
from gatewright.permissions.sandbox.disk import covers, survey
from gatewright.permissions.sandbox.disk.aside import ASIDE, Aside
from gatewright.permissions.sandbox.disk.findings import Bounds, Sight
from gatewright.permissions.sandbox.disk.keeper import PATIENCE, Keeper
from gatewright.permissions.sandbox.disk.neighbours import Neighbours
from gatewright.permissions.sandbox.disk.receipts import RECEIPTS, Receipt
from gatewright.permissions.sandbox.disk.settle import own_places
from gatewright.permissions.sandbox.linux import mount_check
from gatewright.permissions.sandbox.machine import Machine
from gatewright.permissions.sandbox.naming import shown
from gatewright.permissions.sandbox.opening import Judge, still
from gatewright.permissions.sandbox.places import absolute, programs, real, surveyor
from gatewright.permissions.sandbox.port import CLOSED, Offer, Opening
from gatewright.permissions.sandbox.probe import Level
from gatewright.permissions.sandbox.profile import SandboxProfile, Wider, Wishes, sandboxed
from gatewright.permissions.sandbox.running import environment
from gatewright.permissions.sandbox.running.asleep import Asleep, asleep
from gatewright.permissions.sandbox.running.janitor import Janitor
from gatewright.permissions.sandbox.running.launches import Bridge, Launches, Order
from gatewright.permissions.sandbox.running.next_run import NextRun
from gatewright.permissions.sandbox.running.runs import Active, Run
from gatewright.permissions.sandbox.running.standby import fits, may_wait
from gatewright.permissions.sandbox.violations import OWN_LOOPBACK, Violations, private_places
from gatewright.permissions.sandbox.work_tree import in_tree
from gatewright.tools.protocol import SpawnRequest, ToolFailure
from gatewright.tools.system.processes import GroupChild, started

WIDE_SECONDS = 1.0
WATCH_SECONDS = 2.0  # between two looks while a command runs
GLANCE_SECONDS = 0.05  # that such a look may hold up everything else
USUAL = Wider()


class Sandbox:
    """Holds what runs share: knowledge of the disk, what was there before, the unreadable file."""

    def __init__(
        self,
        config: Config,
        machine: Machine,
        bridge: Bridge | None = None,
        *,
        level: Level = "bwrap",
    ) -> None:
        self.config = config
        self._level = level
        self.machine = machine
        self.violations = Violations()
        self.janitor = Janitor(machine.python)
        self.bridge = bridge
        self._neighbours = Neighbours()
        self._active: list[Active] = []
        self.hinted: set[str] = set()  # what the model was told of such places
        self._writable: set[str] = set()  # by the runs since the last quiet moment
        self._watching: asyncio.TimerHandle | None = None
        self._launches = Launches(machine, level, self.janitor)
        self._next = NextRun(self._launches)
        self._stamped = ""
        self._home = os.path.realpath(config.home)
        self.roots = real(config.roots)
        self._surveyor = surveyor(self.config, self.roots)
        self._keeper = self._keep()

    def _keep(self) -> Keeper:
        config = self.config
        cwd, state = str(config.cwd), config.state
        aside = None if state is None else Aside(str(state / ASIDE))
        receipt = Receipt(None if state is None else state / RECEIPTS)
        keeper = Keeper(self._surveyor, cwd, aside, receipt, config.back, self._asleep)
        keeper.writable, keeper.shields = (*self.roots, *self._extra()), self._level == "bwrap"
        return keeper

    def _extra(self) -> tuple[str, ...]:
        """The directories that settings let commands write in besides the roots."""
        cwd, texts = str(self.config.cwd), self.config.allow_write
        paths = (absolute(text, cwd, self._home, self.roots) for text in texts)
        return tuple(path for path in paths if os.path.isdir(path))

    def _asleep(self) -> Asleep | None:
        runs = [active.run.init() for active in self._active]
        return asleep(runs) if runs and self._neighbours.alone(self.roots) else None

    def follow(self, config: Config) -> None:
        """Something else is open or closed to commands from the next run on.

        What goes on now is looked at first; what lies in a new directory was not made by it.
        """
        if config == self.config:
            return
        self.check()
        self._next.drop()
        self._launches.follow(config.limits.nproc)
        self.config, self.roots = config, real(config.roots)
        self._surveyor = surveyor(self.config, self.roots)
        self._keeper.writable = (*self.roots, *self._extra())
        self._keeper.follow(self._surveyor, self.look)

    # --- one run ---

    def profile(
        self, cwd: Path, sight: Sight | None = None, search: str = "", wider: Wider = USUAL
    ) -> SandboxProfile:
        """What a command started in `cwd` could do now; `search` is its PATH."""
        config = self.config
        temp = "" if config.temp is None else os.path.realpath(config.temp)
        wishes = Wishes(
            cwd=os.path.realpath(cwd),
            home=self._home,
            roots=self.roots,
            temp=temp,
            extra=(*self._extra(), *wider.writes),
            seen=(self._home, *self.machine.seen, *programs(search)),
            windows=self._windows(),
            network=wider.network or config.network,
            limits=config.limits,
        )
        found = self._surveyor.survey(sight or self.look())
        found = replace(found, masked=(*found.masked, *mount_check.elsewhere(found.masked)))
        return in_tree(sandboxed(wishes, found), wider, (*wishes.extra, temp))

    def _windows(self) -> tuple[str, ...]:
        """What commands may read of our home: this session's part, programs that lie there."""
        own = self.config.own_home
        if own is None:
            return ()
        home = os.path.realpath(own.path)
        return (*own.windows(), *(p for p in self.machine.seen if p != home and inside(p, home)))

    def look(self) -> Sight:
        """What there is to protect; a whole disk or home would keep the person waiting."""
        if own_places(self.roots, self._home) == self.roots:
            return self._surveyor.look()
        deadline = time.monotonic() + WIDE_SECONDS
        return self._surveyor.look(Bounds(self.roots, deadline, follow=True))

    def offer(self, names: tuple[Named, ...]) -> Offer:
        """What a person's yes to a command with these words would open, as things are now."""
        sight = self.look()
        profile = self.profile(self.config.cwd, sight)
        if self._level != "bwrap":
            profile = profile.without_covers()
        firm = self._surveyor.firmly(sight, profile.masked)
        return Judge(profile, firm, self._surveyor.kept).offer(names)

    def confine(
        self,
        request: SpawnRequest,
        told: Callable[[list[str]], None] | None = None,
        opening: Opening = CLOSED,
        command: str = "",
        *,
        wider: Wider = USUAL,
        bridge: Bridge | None = None,
    ) -> SpawnRequest:
        """The request as bubblewrap's; `told` hears what had to be moved aside after the run.

        `command` is what a person knows it by. The files of `opening` are open to this run, if
        they still are those that were judged.
        """
        already = self._keeper.check()  # of runs that go on: theirs is not to be taken for old
        sight = self._seen(already, told)
        self._begin(sight)
        reads, writes = still(opening.reads), still(opening.writes)
        self._keeper.open(writes)
        search = request.env.get("PATH", "")
        profile = self.profile(request.cwd, sight, search, wider).opened(reads, writes)
        already.extend(
            f"{shown(path)} is not the file any more that was allowed; it stays closed"
            for path in sorted({*opening.reads, *opening.writes} - reads - writes)
        )
        self._writable.update(profile.writable)
        self._neighbours.join(self.roots)
        order = self._order(request, profile, wider, bridge or self.bridge)
        words = (command or " ".join(request.argv))[:500]
        active = Active(Run(), words, self.roots, told, already, writes)
        self._active.append(active)
        self._watch_later()
        return self._begins(active, order, request)

    def _begins(self, active: Active, order: Order, request: SpawnRequest) -> SpawnRequest:
        """What starts it; where one waits for just this, that one goes on as it."""
        outer = request.ended

        def ended() -> None:
            self._settle(active)
            if outer is not None:
                outer()

        def anew() -> SpawnRequest:
            try:
                active.run, made = self._launches.made(order, request.argv)
            except BaseException:
                ended()
                raise
            fds = (*request.fds, *made.fds)
            return msgspec.structs.replace(made, fds=fds, ended=ended)

        told = request.script and fits(request.argv[-1])
        standby = self._next.take(order, request.argv[:-1]) if told else None
        if standby is None:
            return anew()
        active.run = standby.run

        async def begun() -> GroupChild:
            try:
                child = await standby.given(request.argv[-1], ended)
            except BaseException:
                self._next.leave(standby)
                ended()
                raise
            if child is not None:
                return child
            self._next.leave(standby)
            active.run = Run()
            return started(anew())

        return msgspec.structs.replace(request, begun=begun, ended=ended)

    def stand_by(self, request: SpawnRequest, *, within: str = "") -> None:
        """Have a shell wait inside for a script that would be run so. Needs a loop."""
        if self._level != "bwrap" or (sight := self.look()).hopeless:
            return
        search, wider = request.env.get("PATH", ""), Wider(tree=within)
        profile = self.profile(request.cwd, sight, search, wider)
        self._neighbours.join(self.roots)
        try:
            order = self._order(request, profile, wider, self.bridge)
        finally:
            self._neighbours.leave(self.roots)
        if may_wait(order):
            self._next.prepare(order, request.argv[:-1])

    @property
    def waits(self) -> bool:
        """Whether a shell waits inside for a command."""
        return self._next.waits

    def begin(self) -> None:
        """A first command is near."""
        self._launches.begin(self.config.limits.nproc)

    def rest(self) -> None:
        self._next.drop()  # no command is expected

    async def at_rest(self) -> None:
        """Nothing waits for a command any more."""
        await self._next.over()

    def _order(
        self, request: SpawnRequest, profile: SandboxProfile, wider: Wider, bridge: Bridge | None
    ) -> Order:
        """For a run that is about to be: all that go on now are others."""
        env = environment.scrubbed(request.env, self.config.secrets)
        if self._level != "bwrap":
            return Order(profile, env, wider.env)
        proxied = bridge if profile.network.reach == "proxy" else None
        crowded = bool(self._active) or not self._neighbours.alone(self.roots)
        return Order(
            profile,
            env,
            wider.env,
            proxied,
            proxied.env if proxied is not None else None,
            mount_check.expected(profile) if crowded else None,
        )

    def _seen(self, already: list[str], told: Callable[[list[str]], None] | None) -> Sight:
        sight = self.look()
        if self._level != "bwrap":  # nothing is covered
            return replace(sight, covered=(), hopeless=False)
        if sight.hopeless:
            if told is not None and already:
                told(already)
            raise ToolFailure(covers.refusal(survey.MAX_DIRECTORIES))
        if sight.covered:
            already.append(covers.told(sight.covered, survey.MAX_DIRECTORIES, str(self.config.cwd)))
        return sight

    # --- after a run ---

    def _begin(self, sight: Sight) -> None:
        self._keeper.begin(sight)
        if (path := self._keeper.receipt.path) and path != self._stamped:
            self._stamped = path
            self.janitor.stamp(path)

    def _settle(self, active: Active) -> None:
        if active not in self._active:
            return
        over = self._launches.taken_away(active.run)
        texts = [*active.already, *self._keeper.check(last=len(self._active) == 1)]
        others = (each.makes for each in self._active if each is not active)
        self._keeper.shut(active.makes.difference(*others))
        if not over:
            texts.append("Something that this command started would not end.")
            self._keeper.owed = True  # it may make more
        self._active.remove(active)
        self._neighbours.leave(active.roots)
        if not self._active:
            self._keeper.end()
            if not self._keeper.owed:
                self._writable.clear()
            if self._watching is not None:
                self._watching.cancel()
                self._watching = None
        self._tell(active, texts)

    def _tell(self, active: Active, texts: list[str]) -> None:
        self.violations.add(active.command, texts)
        if active.told is not None and texts:
            active.told(texts)

    @property
    def owes(self) -> bool:
        """Whether a look was not finished: commands are not to run without a question."""
        return self._keeper.owed

    @property
    def waiting(self) -> bool:
        """Whether commands go on that may have made something."""
        return bool(self._active)

    def settled(self, path: str) -> bool:
        """Whether no run can have made this, or changed it, without its having been looked after.

        While runs go on that is so outside of what they write, and for protected names that were
        there before the first: those are covered in every run.
        """
        if self._keeper.base is None:
            return True
        covers = self._level == "bwrap"
        return all(
            not any(inside(each, place) for place in (*self.roots, *self._writable))
            or (covers and self._keeper.covers(each))
            for each in (path, os.path.realpath(path))
        )

    def private_places(self, command: str, output: str, code: int | None) -> tuple[str, ...]:
        """What the model should know of places that this command had for itself."""
        if self._level != "bwrap":
            return ()
        temp = () if self.config.temp is None else (str(self.config.temp),)
        hints = private_places(command, output, code, (*self.roots, *temp))
        shared = self.config.network.reach == "open"
        return tuple(text for text in hints if text is not OWN_LOOPBACK or not shared)

    def check(self, seconds: float = PATIENCE) -> None:
        """Look after the commands that go on; their callers are told."""
        if self._active and (texts := self._keeper.check(seconds)):
            self._tell(self._active[0], texts)

    def _watch_later(self) -> None:
        if self._watching is None:
            try:
                loop = asyncio.get_running_loop()
            except RuntimeError:
                return  # who waits for the command looks
            self._watching = loop.call_later(WATCH_SECONDS, self._watch)

    def _watch(self) -> None:
        self._watching = None
        self.check(GLANCE_SECONDS)
        if self._active:
            self._watch_later()

    def approved(self, call: int, paths: Iterable[str]) -> None:
        """This call is about to write these outside the sandbox, by right."""
        self._keeper.approve(call, map(os.path.realpath, paths))

    def made(self, call: int) -> None:
        """It is over: what is there now under those paths was made by right, and nothing else."""
        self._keeper.made(call)

    def close(self) -> None:
        """Take away what is left; the janitor does the rest."""
        for active in tuple(self._active):
            self._settle(active)
        self._next.end()
        self._keeper.receipt.close()
        self._launches.close()
        self.janitor.close()
