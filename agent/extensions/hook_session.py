"""Adapts hooks to a session: who judges, spawns, tells and publishes for them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from msgspec.structs import replace

from gatewright.agent.extensions.hook_calls import HookCalls
from gatewright.agent.extensions.hook_ground import environment, ground, poster
from gatewright.agent.extensions.hook_ways import Ways
from gatewright.agent.extensions.host import Host
from gatewright.agent.extensions.plugins.hooks_of_plugins import of_plugins
from gatewright.agent.hooks.configured.book import Terms, book_of
from gatewright.agent.hooks.configured.matchers import names_of
from gatewright.agent.hooks.configured.reading import Read, read
from gatewright.agent.hooks.engine import Engine, EnginePorts
from gatewright.agent.hooks.events import EVENTS, FILE_CHANGED
from gatewright.agent.hooks.following import Following, FollowingPorts
from gatewright.agent.hooks.handlers import OF_CLAUDE, Fault, Handler, Place
from gatewright.agent.hooks.inputs import Facts
from gatewright.agent.hooks.kinds.commands import Commands
from gatewright.agent.hooks.kinds.judging_model import LOOKS, SYSTEM, Questions
from gatewright.agent.hooks.kinds.running import Firing, Output, Ports, Run
from gatewright.agent.hooks.kinds.server_tools import ServerTools
from gatewright.agent.hooks.listening import Listening, ListeningPorts
from gatewright.agent.hooks.session_facts import SessionFacts
from gatewright.agent.hooks.shown.checks import summary, troubles
from gatewright.agent.hooks.shown.rows import HookRow, Seen, rows_of
from gatewright.agent.hooks.shown.trial import firing_of, sample, timed, understanding
from gatewright.agent.hooks.transcripts import Transcripts
from gatewright.agent.hooks.watching import Watching
from gatewright.agent.record.events import Envelope, UserMessage
from gatewright.agent.settings.workspace import Surroundings
from gatewright.agent.text.printable import escaped
from gatewright.permissions.condition import is_about, only_reads, problem_of
from gatewright.permissions.context import Call, Context
from gatewright.tools.access import MAIN, Access
from gatewright.tools.counted import counted
from gatewright.tools.protocol import ToolCall
from gatewright.tools.system import private
from gatewright.tools.system.processes import spawn
from gatewright.tools.system.sweep import SHELL_MARK


class HookSession:
    """Hooks of one session: what front ends look at is `engine`; `given` is what others bring."""

    def __init__(self, host: Host) -> None:
        around, start = host.around, host.base.start
        self._host = host
        self._ways = Ways(host)
        self._kept = start.path.with_suffix("")
        self._env_file = self._kept / "spill" / "hook-env.sh"
        host.exports["GATEWRIGHT_ENV_FILE"] = str(self._env_file)  # sourced before every command
        self._added = around.where.added
        self.given: dict[str, Read] = {}  # of agents at work, by path
        self._client = Read()  # of an SDK client
        self._called_back: Run = nobody
        self._checking: asyncio.Task[None] | None = None
        self.troubles: dict[tuple[object, ...], Fault] = {}  # what the check of them found
        self.known = SessionFacts(around.where)
        for envelope in host.journal.hub().kept():
            self.known.saw(envelope)
        stored = None if around.options.no_session else self._kept
        self.transcripts = Transcripts(stored, start.id, host.journal.hub().kept())
        self.commands = Commands(self._running_ports())
        self.engine = Engine(self._engine_ports())
        listening = ListeningPorts(
            facts=self._facts(),
            spill=self._kept / "spill",
            publish=host.base.journal.publish,
            watch=lambda paths: self.watching.ask(paths),
            judging=self._ways.judging,
            only_reads=self._only_reads,
            notify=lambda kind, text: self.following.notify(kind, text),
        )
        self.listening = Listening(self.engine, listening)
        following = FollowingPorts(
            cwd=lambda agent: self.known.of(agent).cwd,
            said=lambda agent: self.known.of(agent).said,
            later=asyncio.get_running_loop().call_later,
            judging=self._ways.judging,
        )
        self.following = Following(self.engine, self.listening, following)
        self.watching = Watching(self._changed)

    def _running_ports(self) -> Ports:
        host = self._host
        return Ports(
            spawn=spawn,
            env=self._env,
            root=host.around.where.cwd,
            session=host.base.start.id,
            prelude=SHELL_MARK,
            env_file=self._env_file,
            effort=lambda: host.around.settings.effort,
        )

    def _engine_ports(self) -> EnginePorts:
        host = self._host
        ways = self._ways
        return EnginePorts(
            kinds={
                "command": self.commands.run,
                "http": poster(lambda: host.around).run,
                "prompt": Questions(ways.asks).run,
                "agent": Questions(ways.looks, SYSTEM + LOOKS).run,
                "mcp_tool": ServerTools(HookCalls(host)).run,
                "callback": lambda handler, firing: self._called_back(handler, firing),
            },
            applies=self._applies,
            publish=host.base.journal.publish,
            tell=lambda text, agent, wakes: host.session.tell(
                text, agent=agent, wakes=wakes and not host.around.options.served
            ),
            ready=self.transcripts.written,
            judging=ways.judging,
        )

    def _facts(self) -> Facts:
        host, known = self._host, self.known
        printing = not (host.around.interactive and host.around.options.has_screen)
        return Facts(
            session=host.base.start.id,
            transcript=self.transcripts.path,
            cwd=lambda agent: known.of(agent).cwd,
            path=lambda agent, text: known.where(agent).resolve(text),
            mode=lambda agent: host.policy.view(agent).mode,
            prompt=lambda: known.prompt,
            effort=lambda: host.around.settings.effort,
            kind=lambda agent: known.of(agent).kind,
            running=lambda agent: list(host.session.jobs_of(agent).running()),
            defers=lambda agent: printing and agent == MAIN and known.of(agent).calls == 1,
            printing=printing,
        )

    def read(self, around: Surroundings) -> tuple[str, ...]:
        """Take up what is configured now; what is new and wrong with it."""
        loaded = around.loaded
        terms = Terms.of(around.settings, trusted=around.trusted, bare=around.options.bare)
        before = {fault.text() for fault in self.engine.book.faults}
        given = (self._client, *of_plugins(self._host.brought), *self.given.values())
        self.engine.book = book_of(loaded.hooks, given, terms, problem_of)
        faults = (*self.engine.book.faults, *self._not_yet())
        new = (text for fault in faults if (text := escaped(fault.text())) not in before)
        return (*new, *self._of_claude())

    def _of_claude(self) -> tuple[str, ...]:
        """Said once, in the first session in which they act."""
        theirs = [each for each in self.engine.book.handlers if each.place.origin in OF_CLAUDE]
        mark = self._host.around.places.state / "told.claude-hooks"
        if not theirs or mark.exists():
            return ()
        with suppress(OSError):  # then it is said once more
            private.write(mark, b"")
        one = len(theirs) == 1
        return (
            f"{counted(len(theirs), 'hook')} of Claude Code's settings {'acts' if one else 'act'} "
            f"here; readClaudeHooks: false turns {'it' if one else 'them'} off.",
        )

    def _not_yet(self) -> Iterator[Fault]:
        """Of kinds that wait for what runs them."""
        for each in self.engine.book.handlers:
            if each.kind not in self.engine.kinds:
                told = f"is of the kind {each.kind}, which does not run here yet"
                yield Fault(place=each.place, event=each.event, message=told)

    def watch(self) -> None:
        """The files that matchers of FileChanged name."""
        row = EVENTS[FILE_CHANGED]
        here = self.engine.book.by_event.get(FILE_CHANGED, ())
        names = [name for each in here for name in names_of(each.matcher, row) or ()]
        self.watching.names(names, self._host.around.where.root)

    def _changed(self, path: str, how: str) -> None:
        self.following.tell(FILE_CHANGED, {"file_path": path, "event": how})

    def take(self, around: Surroundings) -> tuple[str, ...]:
        """What is configured now counts; what is new and wrong with it."""
        told = self.read(around)
        self.watch()
        for directory in around.where.added:
            if directory not in self._added:
                fields = {"directory": str(directory), "source": "slash_command"}
                self.following.tell("DirectoryAdded", fields)
        self._added = around.where.added
        self.check(around)
        return told

    def check(self, around: Surroundings) -> None:
        """Look in a thread whether what would be started is there; tell what is not."""
        if self._checking is not None:
            self._checking.cancel()
        self._checking = asyncio.create_task(self._checked(around), name="check of hooks")

    async def _checked(self, around: Surroundings) -> None:
        book, kinds = self.engine.book, self.engine.kinds
        known = [each for each in book.handlers if not each.broken and each.kind in kinds]
        found = await asyncio.to_thread(lambda: list(troubles(known, ground(around, kinds))))
        before, self.troubles = self.troubles, {handler.key: fault for handler, fault in found}
        new = [fault for handler, fault in found if handler.key not in before]
        if text := summary(new):
            self._host.warn(escaped(text))

    def rows(self) -> list[HookRow]:
        """Every handler there is, as it stands now."""
        engine = self.engine
        seen = Seen(
            tallies=engine.tallies,
            off=frozenset(engine.off),
            troubles=self.troubles,
            withheld=tuple(sorted(self._env(False).keys() - self._env(True).keys())),
        )
        return rows_of(engine.book, seen)

    async def tried(self, handler: Handler) -> str:
        """What one of them says to a sample of its event, whatever it hears of."""
        where = self._host.around.where
        input = sample(handler.event, where.cwd, _first_name(handler))
        firing = firing_of(handler.event, input, where.cwd, Access())
        ran = await self.engine.tried(handler, firing)
        return f"{handler.name}: {timed(ran)}, {understanding(ran)}."

    def switched(self, handler: Handler, *, on: bool) -> str:
        """Off or on for this session; what to tell the person."""
        off = self.engine.off
        if handler.place.origin == "managed":
            return "What is managed cannot be switched off."
        if on:
            off.discard(handler.key)
        else:
            off.add(handler.key)
        return f"{handler.name} is {'on again' if on else 'off for this session'}."

    def attend(self, given: Read, run: Run, around: Surroundings) -> bool:
        """What a client gives is heard from now on; False where something keeps it off."""
        self._client, self._called_back = given, run
        for text in self.take(around):
            self._host.warn(text)
        return not any(off.handler.place.origin == "sdk" for off in self.engine.book.off)

    def bring(self, key: str, raw: Any, place: Place, *, of_all: bool = False) -> tuple[str, ...]:
        """What the definition of an agent says counts for it as long as it works; what is wrong.

        What a skill says is heard `of_all` agents, and stays.
        """
        found, agent = read(raw, place, problem_of), MAIN if of_all else key
        heard = "" if of_all else key
        own = tuple(replace(each, agent=heard, event=_of(each, agent)) for each in found.handlers)
        self.given[key] = Read(own, found.faults)
        return self.read(self._host.around)

    def left(self, agent: str) -> None:
        if self.given.pop(agent, None) is not None:
            self.read(self._host.around)

    def saw(self, envelope: Envelope) -> None:
        event = envelope.event
        if isinstance(event, UserMessage) and not event.hidden and not event.source:
            self.engine.spoken()
        self.following.saw(envelope)
        self.known.saw(envelope)
        self.transcripts.saw(envelope)

    async def close(self) -> None:
        if self._checking is not None:
            self._checking.cancel()
        await self.watching.close()
        await self.following.close()
        await self.engine.close()
        await self.commands.close()

    def _applies(self, condition: str, call: ToolCall, access: Access) -> bool:
        return is_about(condition, Call(call.name, call.input, access), self._context())

    def _only_reads(self, call: ToolCall, access: Access, agent: str) -> bool:
        return only_reads(Call(call.name, call.input, access), self._context(agent))

    def _context(self, agent: str = MAIN) -> Context:
        return self._host.policy.context(self._host.around.where, agent=agent)

    def _env(self, scrubbed: bool) -> Mapping[str, str]:
        return environment(self._host.around, scrubbed=scrubbed)


def _of(handler: Handler, agent: str) -> str:
    """The end of an agent's turn is a Stop to who wrote its definition."""
    return "SubagentStop" if handler.event == "Stop" and agent != MAIN else handler.event


def _first_name(handler: Handler) -> str:
    """What its matcher would let through, where that is a name."""
    names = names_of(handler.matcher, EVENTS[handler.event])
    return names[0] if names else ""


async def nobody(handler: Handler, firing: Firing) -> Output:  # noqa: ARG001  the shape of a Run
    return Output(failure="no client is there that could answer")
