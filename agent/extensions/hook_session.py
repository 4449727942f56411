"""Adapts hooks to a session: who judges, spawns, tells and publishes for them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from gatewright.agent.extensions.contribution import Contribution
from gatewright.agent.extensions.host import Host
from gatewright.agent.hooks.book import Terms, book_of
from gatewright.agent.hooks.commands import Commands
from gatewright.agent.hooks.engine import Engine, EnginePorts
from gatewright.agent.hooks.inputs import Facts
from gatewright.agent.hooks.listening import Listening, ListeningPorts
from gatewright.agent.hooks.reading import Read
from gatewright.agent.hooks.running import Ports
from gatewright.agent.hooks.session_facts import SessionFacts
from gatewright.agent.hooks.transcripts import Transcripts
from gatewright.agent.settings.workspace import Surroundings
from gatewright.agent.text.printable import escaped
from gatewright.permissions.condition import is_about, problem_of
from gatewright.permissions.context import Call
from gatewright.tools.access import Access
from gatewright.tools.protocol import ToolCall
from gatewright.tools.shell.environment import child_environment
from gatewright.tools.shell.proc import spawn
from gatewright.tools.shell.sweep import SHELL_MARK


class HookSession:
    """Hooks of one session: what front ends look at is `engine`; `given` is what others bring."""

    def __init__(self, host: Host) -> None:
        around, start = host.around, host.base.start
        kept = start.path.with_suffix("")
        self._host = host
        self.given: list[Read] = []  # of SDK clients, plugins, agents, skills
        self.known = SessionFacts(around.where)
        stored = None if around.options.no_session else kept
        self.transcripts = Transcripts(stored, start.id, start.stored)
        self.facts = Facts(
            session=start.id,
            transcript=self.transcripts.path,
            cwd=lambda agent: self.known.of(agent).cwd,
            mode=lambda agent: host.policy.view(agent).mode,
            prompt=lambda: self.known.prompt,
            effort=lambda: host.around.settings.effort,
            kind=lambda agent: self.known.of(agent).kind,
            said=lambda agent: self.known.of(agent).said,
            running=self._running,
        )
        self.commands = Commands(
            Ports(
                spawn=spawn,
                env=self._env,
                root=around.where.cwd,
                session=start.id,
                prelude=SHELL_MARK,
                effort=lambda: host.around.settings.effort,
            )
        )
        self.engine = Engine(
            EnginePorts(
                kinds={"command": self.commands.run},
                applies=self._applies,
                publish=lambda event, agent: host.base.journal.publish(event, agent),
                tell=lambda text, agent, wakes: host.session.tell(text, agent=agent, wakes=wakes),
                ready=self.transcripts.written,
            )
        )
        self.listening = Listening(
            self.engine,
            ListeningPorts(
                facts=self.facts,
                spill=kept / "spill",
                publish=lambda event, agent: host.base.journal.publish(event, agent),
                watch=lambda paths: None,
            ),
        )

    def read(self, around: Surroundings) -> tuple[str, ...]:
        """Take up what is configured now; what is new and wrong with it."""
        loaded = around.loaded
        terms = Terms.of(around.settings, trusted=around.trusted, bare=around.options.bare)
        before = {fault.text() for fault in self.engine.book.faults}
        self.engine.book = book_of(loaded.hooks, self.given, terms, problem_of)
        faults = self.engine.book.faults
        return tuple(text for fault in faults if (text := escaped(fault.text())) not in before)

    def follow(self, around: Surroundings) -> None:
        for text in self.read(around):
            self._host.warn(text)

    async def close(self) -> None:
        await self.engine.close()
        await self.commands.close()

    def _applies(self, condition: str, call: ToolCall, access: Access) -> bool:
        host = self._host
        context = host.policy.context(host.around.where)
        return is_about(condition, Call(call.name, call.input, access), context)

    def _env(self, scrubbed: bool) -> Mapping[str, str]:
        around = self._host.around
        return child_environment(around.env, around.secrets) if scrubbed else around.env

    def _running(self, agent: str) -> list[str]:
        return list(self._host.session.jobs_of(agent).running())


async def open_hooks(host: Host) -> Contribution:
    hooks = HookSession(host)
    problems = await asyncio.to_thread(hooks.read, host.around)
    host.live.listen(hooks.follow)
    return Contribution(
        folds=(hooks.known.saw, hooks.transcripts.saw),
        moments=hooks.listening,
        parts=(hooks,),
        problems=problems,
        close=(hooks.close,),
    )
