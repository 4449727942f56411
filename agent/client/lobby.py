"""A session that is none: what a screen stands over until one is chosen."""

from __future__ import annotations

import time
from collections.abc import Sequence

from gatewright.agent.client.far_facts import FarFacts
from gatewright.agent.client.far_state import FarState
from gatewright.agent.client.port import Give, StatusSource, Taken
from gatewright.agent.client.session_lines import Facts
from gatewright.agent.commands.core import exit_commands
from gatewright.agent.commands.outcome import Outcome, Problem
from gatewright.agent.commands.registry import Commands, Front, Mention, always
from gatewright.agent.errors import SessionError
from gatewright.agent.record.events import InputRefused
from gatewright.agent.record.hub import Subscription
from gatewright.agent.record.ids import new_id
from gatewright.agent.record.journal import Journal
from gatewright.tools.access import MAIN
from gatewright.tools.interact import Answer, Weighed

CHOOSE = "No session is chosen yet: /sessions lists them."


class Lobby(FarFacts):
    """Implements `SessionClient`: it has commands, and does nothing else."""

    def __init__(self) -> None:
        super().__init__(FarState(Facts(id="", mode="no session", model="")))
        self.commands = Commands(always(*exit_commands()))
        self._journal = Journal(clock=time.time, new_id=new_id)
        self._journal.begin(())

    @property
    def busy(self) -> bool:
        return False

    @property
    def status(self) -> StatusSource | None:
        return None

    def status_input(self, vim: str) -> bytes:
        del vim
        return b"{}"

    def subscribe(self, *, since: int = 0, streamed: bool = False) -> Subscription:
        return self._journal.hub().subscribe(since=since, streamed=streamed)

    async def watch(self, agent: str) -> Subscription:
        del agent
        raise SessionError(CHOOSE)

    async def opened(self) -> None:
        """Nothing is asked."""

    async def idle(self) -> None:
        """Nothing runs."""

    def submit(
        self,
        text: str,
        attachments: Taken = (),
        *,
        typed: str | None = None,
        id: str = "",
        agent: str = MAIN,
    ) -> str:
        del attachments, typed, agent
        self._journal.publish(InputRefused(text=text, reason=CHOOSE))
        return id or new_id()

    def typing(self) -> None:
        """Nothing has to be made ready."""

    def take_back(self, give: Give) -> bool:
        del give
        return False

    def interrupt(self) -> bool:
        return False

    def to_background(self) -> int:
        return 0

    async def stop_agent(self, agent: str) -> Outcome:
        del agent
        return Problem.of(CHOOSE)

    async def resume_agent(self, agent: str) -> Outcome:
        del agent
        return Problem.of(CHOOSE)

    def answer(self, ask: int, answer: Answer, *, by: str = "") -> bool:
        del ask, answer, by
        return False

    async def weigh(self, ask: int, rules: Sequence[str]) -> Weighed:
        del ask, rules
        return Weighed(problem=CHOOSE)

    def cycle_mode(self) -> str:
        return ""

    async def mentions(self, begun: str) -> Sequence[Mention]:
        del begun
        return ()

    async def run_command(self, line: str, front: Front) -> Outcome:
        return await self.commands.run(line, front)

    async def apply(self, outcome: Outcome, front: Front) -> Outcome:
        del front
        return outcome

    async def keep_setting(self, key: str, value: str) -> Outcome:
        del key, value
        return Problem.of(CHOOSE)

    async def remember(self, line: str) -> Outcome:
        del line
        return Problem.of(CHOOSE)

    async def close(self) -> None:
        self._journal.close()
