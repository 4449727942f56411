"""A team at work: members are named agents in the background that take up tasks by themselves.

What a member holds is free again as soon as it ends otherwise than by finishing its turn.
"""

from __future__ import annotations

import asyncio
import contextlib
import re

import msgspec

from gatewright.agent.agents.send_message import Mail
from gatewright.agent.extensions.agents.agent_tools import Agents
from gatewright.agent.extensions.contribution import part_of
from gatewright.agent.extensions.host import Host
from gatewright.agent.extensions.teams.team_post import RELEASED, TeamPost
from gatewright.agent.record.events import AgentFinished, AgentStarted, Envelope, ToolFinished
from gatewright.agent.session.inbox import InputSource
from gatewright.agent.teams.team import Roll, TeamError, TeamFolder
from gatewright.agent.teams.turns import Next, free_of_the_dead, let_go, next_for, said_in
from gatewright.tools.access import MAIN, Effect
from gatewright.tools.moments import AgentIdles, CallPrepared, Moment, Verdict
from gatewright.tools.protocol import ToolFailure
from gatewright.tools.system.lifetimes import ours
from gatewright.tools.tasks.tasklist import LIST_VARIABLES, Holder, list_name

LOOK = 4.0  # seconds between two looks for owners in other processes that died
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
FLAT = (
    "A member of a team starts no members: work alone, or start an agent without a name and wait."
)


class TeamSession:
    """Also a listener: members start no others."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.folder: TeamFolder | None = None
        self._names: dict[str, str] = {}  # of the members, by path
        self._idle: set[str] = set()  # paths
        self._post = TeamPost(self, self._names, self._tell_lead, self._approved)
        self._nudged: dict[str, int] = {}
        self._stamp = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._turn = asyncio.Lock()
        self._watching: asyncio.Task[None] | None = None
        self._listens = False

    @property
    def _id(self) -> str:
        """Raises TeamError: what the environment says is no name."""
        try:
            return list_name(self._host.around.env) or self._host.base.start.id
        except ToolFailure as error:
            raise TeamError(str(error)) from None

    # begun and ended

    async def create(self, name: str, description: str) -> str:
        if not NAME.fullmatch(name):
            raise TeamError("A team's name has letters, digits, '.', '_' and '-', 40 at most.")
        if self.folder is not None and (roll := self.folder.roll) is not None:
            raise TeamError(f"This session has the team {roll.name} already: TeamDelete ends it.")
        await asyncio.to_thread(self._at.begin, name, description)
        self._lead()
        return (
            f"The team {name} is begun. Its task list is that of TaskCreate and TaskList from now "
            "on. Agents that you start with a name, in the background, are its members."
        )

    @property
    def _at(self) -> TeamFolder:
        return TeamFolder(self._host.around.places.home / "teams" / self._id)

    def _lead(self) -> None:
        self.folder = self._at
        self._host.exports[LIST_VARIABLES[1]] = self._id
        self._watching = asyncio.create_task(self._watch(self.folder), name="team watch")
        if (mail := self._mail) is not None:
            mail.team = self._post
        if not self._listens:
            self._listens = True
            self._host.listeners.add(self)

    async def go_on(self) -> None:
        """The team that this session left: its members are idle until somebody writes to them."""
        try:
            roll = await asyncio.to_thread(lambda: self._at.roll)
        except TeamError as error:
            self._host.warn(f"This session goes on without its team: {error}")
            return
        if roll is None or (roll.lead.lives() and not roll.lead.is_us()):
            return
        await asyncio.to_thread(self._at.keep, msgspec.structs.replace(roll, lead=ours()))
        self._names.update((f"{MAIN}/{id}", name) for name, id in roll.members.items())
        self._idle = set(self._names)
        self._lead()

    async def delete(self) -> str:
        if self.folder is None or (roll := self.folder.roll) is None:
            raise TeamError("This session has no team.")
        if working := sorted(n for path, n in self._names.items() if path not in self._idle):
            raise TeamError(f"{', '.join(working)} are at work: wait, or TaskStop them first.")
        folder, self.folder = self.folder, None
        self._unwatch()
        for path in list(self._names):
            self._forget(path)
        self._host.exports.pop(LIST_VARIABLES[1], None)
        await asyncio.to_thread(folder.remove)
        return f"The team {roll.name} is ended; its task list and mail are gone."

    def about(self) -> str:
        """For the lead, again after a summary."""
        roll = self.folder.roll if self.folder is not None else None
        if roll is None:
            return ""
        members = ", ".join(sorted(self._names.values())) or "nobody yet"
        return f"You lead the team {roll.name} ({members}): {roll.description}".rstrip(": ")

    # what members do

    def saw(self, envelope: Envelope) -> None:
        event = envelope.event
        if self.folder is None:
            return
        match event:
            case AgentStarted(child=child, name=name) if envelope.agent == MAIN and name:
                self._named(child, name)
                self._begin(self._joined(self.folder, child, name))
            case AgentFinished(child=child) if child in self._names:
                self._idle.add(child)
                if child in self._post.leaving:
                    self._begin(self._left(self.folder, child))
                elif event.status == "completed":
                    self._begin(self._look(self.folder, (child,)))
                else:
                    self._begin(self._fell(self.folder, child))
            case ToolFinished() if self._idle and self._changed(self.folder):
                self._begin(self._look(self.folder, tuple(sorted(self._idle))))
            case _:
                pass

    def _begin(self, work: object) -> None:
        assert asyncio.iscoroutine(work)
        task: asyncio.Task[None] = asyncio.get_running_loop().create_task(work, name="team")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self._host.session.jobs_of(MAIN).all.preparing(task, "agent")

    def _changed(self, folder: TeamFolder) -> bool:
        """Whether the list is another one than when somebody last looked."""
        try:
            stamp = (folder.path / "tasks.json").stat().st_mtime_ns
        except OSError:
            return False
        before, self._stamp = self._stamp, stamp
        return stamp != before

    async def _watch(self, folder: TeamFolder) -> None:
        """What the dead of other processes held is free, and taken, though nothing happens here."""
        while True:
            await asyncio.sleep(LOOK)
            with contextlib.suppress(ToolFailure, OSError):  # the tools say what is wrong with it
                await asyncio.to_thread(free_of_the_dead, folder)
            if self._idle and self._changed(folder):
                await self._look(folder, tuple(sorted(self._idle)))

    def _unwatch(self) -> None:
        if self._watching is not None:
            self._watching.cancel()

    async def _joined(self, folder: TeamFolder, child: str, name: str) -> None:
        def keep() -> None:
            roll = folder.roll or Roll("")
            members = {**roll.members, name: child.rpartition("/")[2]}
            folder.keep(msgspec.structs.replace(roll, members=members))

        async with self._turn:
            await asyncio.to_thread(keep)

    def _named(self, child: str, name: str) -> None:
        """Who had the name before has ended, and is of the team no more."""
        for path in [path for path, known in self._names.items() if known == name]:
            if path != child:
                self._forget(path)
        self._names[child] = name
        self._idle.discard(child)

    def _forget(self, path: str) -> None:
        self._names.pop(path, None)
        self._idle.discard(path)
        self._post.left(path)

    async def _left(self, folder: TeamFolder, child: str) -> None:
        """It agreed to end, and has: the others may have what it held."""
        name = self._names[child]
        self._forget(child)

        def strike() -> None:
            if (roll := folder.roll) is not None:
                members = {known: id for known, id in roll.members.items() if known != name}
                folder.keep(msgspec.structs.replace(roll, members=members))

        async with self._turn:
            await asyncio.to_thread(strike)
        await self._fell(folder, child)

    async def _fell(self, folder: TeamFolder, child: str) -> None:
        """It failed or was stopped: others may have its task, at once."""
        await asyncio.to_thread(let_go, folder, frozenset({child}))
        await self._look(folder, tuple(sorted(self._idle - {child})))

    async def _look(self, folder: TeamFolder, paths: tuple[str, ...]) -> None:
        """What is there for those who have nothing to do, one after the other."""
        for path in paths:
            async with self._turn:
                if path not in self._idle or folder is not self.folder:
                    continue
                try:
                    await self._give(folder, path)
                except (TeamError, ToolFailure, OSError) as error:
                    await asyncio.to_thread(let_go, folder, frozenset({path}))
                    self._host.warn(f"{self._names[path]} cannot go on: {error}")

    async def _give(self, folder: TeamFolder, path: str) -> None:
        if await self._hand_over(folder, path) or self._post.awaits(path):
            return
        name = self._names[path]
        whose: InputSource = "program"
        what = await self._kept_busy(name)
        if not what.text:
            who = Holder(ours(), path)
            what = await asyncio.to_thread(next_for, folder, name, who, self._nudged)
            whose = "agent"  # what a task says, one of them wrote
        if what.gave_up:
            told = f"{name} did not get task #{what.gave_up} done: it is free again."
            self._host.session.tell(told, source="job")
        if what.text and (mail := self._mail) is not None:
            self._idle.discard(path)
            await mail.from_team(path.rpartition("/")[2], what.text, whose)

    async def arrived(self, path: str) -> str:
        """It has mail; why it cannot read that now, if it cannot."""
        async with self._turn:
            try:
                if self.folder is not None and path in self._names:
                    await self._hand_over(self.folder, path)
            except (TeamError, ToolFailure, OSError) as error:
                return str(error)
        return ""

    async def _hand_over(self, folder: TeamFolder, path: str) -> bool:
        """Its mail, once; what cannot be read now lies in its box again."""
        name, mail = self._names[path], self._mail
        if mail is None or not (waiting := await asyncio.to_thread(folder.take, name)):
            return False
        try:
            await mail.from_team(path.rpartition("/")[2], said_in(waiting), "agent")
        except ToolFailure:
            await asyncio.to_thread(folder.put_back, name, waiting)
            raise
        return True

    def _tell_lead(self, text: str) -> None:
        self._host.session.tell(text, source="agent")

    def _approved(self, path: str) -> str:
        """Its mode from now on. Raises ToolFailure."""
        agents = part_of(self._host.brought, Agents)
        if agents is None:
            raise ToolFailure("There are no agents in this session.")
        return agents.opened().plan_approved(path)

    async def _kept_busy(self, name: str) -> Next:
        """Who listens may have it go on."""
        roll = self.folder.roll if self.folder is not None else None
        if self._host.moments is None:
            return Next()
        moment = AgentIdles(name=name, team=roll.name if roll is not None else "")
        verdict = await self._host.listeners.at(moment)
        return Next(verdict.text) if verdict.word in ("deny", "stop") and verdict.text else Next()

    @property
    def _mail(self) -> Mail | None:
        agents = part_of(self._host.brought, Agents)
        return agents.opened().mail if agents is not None else None

    async def at(self, moment: Moment) -> Verdict:
        """Members start no members; who agreed to end does nothing more."""
        if isinstance(moment, CallPrepared) and moment.agent in self._post.leaving:
            return Verdict(word="deny", text=RELEASED)
        if not isinstance(moment, CallPrepared) or moment.agent not in self._names:
            return Verdict()
        given, starts = moment.call.input, Effect.AGENT in moment.access.effects
        stays = bool(given.get("name") or given.get("run_in_background"))
        return Verdict(word="deny", text=FLAT) if starts and stays else Verdict()

    async def close(self) -> None:
        """What members held is free for whoever goes on; the list stays."""
        self._unwatch()
        for task in list(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=2.0)
        if self.folder is not None and self._names:
            await asyncio.to_thread(let_go, self.folder, frozenset(self._names))
