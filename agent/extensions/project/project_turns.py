"""What a run has done between the turns of the session, and in them: work, checks, questions."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from gatewright.agent.autonomy.project.course import Failed, Outcome, Passed, Refused
from gatewright.agent.autonomy.project.project_run import RunOver
from gatewright.agent.errors import SessionError
from gatewright.agent.extensions.host import Host
from gatewright.agent.record.events import AnyEvent, TurnEnded, UserMessage
from gatewright.agent.record.ids import new_id
from gatewright.agent.session.agent import Agent
from gatewright.agent.session.inbox import Input, InputSource, Priority
from gatewright.agent.turn.stop import Stop
from gatewright.tools.access import MAIN
from gatewright.tools.protocol import TextContent, ToolCall, ToolResult

CHECK_SECONDS = 600.0
TAIL = 1_500  # characters of what a failed check printed
STOPPED = frozenset({Stop.ABORTED_STREAMING, Stop.ABORTED_TOOLS, Stop.USER_REFUSED})
LIMITS = frozenset({Stop.MAX_TURNS, Stop.BUDGET_EXHAUSTED})
FAILING = frozenset({Stop.LOOP_GUARD, Stop.MALFORMED_TOOL_USE, Stop.PROMPT_TOO_LONG})
INTERRUPTED = "You stopped it."
T = TypeVar("T")


class ProjectTurns:
    """Follows the main agent's events; one turn of a run is waited for at a time."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.check_seconds = CHECK_SECONDS
        self._input = ""  # what was put and not taken up yet
        self._under_way = False
        self._end: asyncio.Future[TurnEnded] | None = None

    def saw(self, event: AnyEvent) -> None:
        match event:
            case UserMessage(input_id=id) if id and id == self._input:
                self._input, self._under_way = "", True
            case TurnEnded() if self._under_way:
                self._under_way = False
                if self._end is not None and not self._end.done():
                    self._end.set_result(event)
            case _:
                pass

    @property
    def main(self) -> Agent:
        main = self._host.session.agent(MAIN)
        assert main is not None
        return main

    async def turn(
        self, prompt: str, source: InputSource, begins: Callable[[str], object]
    ) -> TurnEnded:
        """A turn of the model over this. `begins` hears the id of its input. Raises RunOver."""
        await self._host.session.idle()
        self._input, self._under_way = new_id(), False
        self._end = asyncio.get_running_loop().create_future()
        begins(self._input)
        content = (TextContent(prompt),)
        item = Input(self._input, content, Priority.LATER, hidden=True, typed="", source=source)
        self.main.runner.put(item)
        try:
            return await self._end
        finally:
            self._end, self._input = None, ""

    async def alone(self, work: Callable[[], Awaitable[T]]) -> T:
        """Between two turns, as one of them: Esc ends it. Raises RunOver."""
        session, began = self._host.session, False

        async def begun() -> T:
            nonlocal began
            began = True
            return await work()

        while True:
            await session.idle()
            try:
                return await self.main.runner.alone(begun)
            except SessionError:
                if began:
                    raise RunOver("stopped", INTERRUPTED) from None

    async def check(self, command: str) -> Outcome:
        """The command of a feature: a call of Bash like any other, through the gate."""
        seconds = self.check_seconds
        input = {"command": command, "description": "The check", "timeout": seconds * 1000}
        result = await self._host.session.call(ToolCall(f"check_{new_id()}", "Bash", input))
        data, said = result.data, _said(result)[-TAIL:]
        if id := str(data.get("backgroundTaskId", "")):
            self._host.session.jobs_of(MAIN).told(id)  # the run says it
            await self._host.session.stop_task(id)
            return Failed(f"The check did not end within {seconds:g} s and was ended. {said}")
        if "exitCode" not in data:
            return Refused(f"The check was not run: {said}")
        if result.ok and data["exitCode"] == 0:
            return Passed()
        return Failed(f"The check failed: {command}\n{said}")


def came_to(ended: TurnEnded) -> Outcome:
    """What the end of a turn means for its feature. Raises RunOver where it is the run's end."""
    stop, message = ended.stop, ended.message
    if stop in STOPPED:
        raise RunOver("stopped", INTERRUPTED)
    if stop in LIMITS:
        raise RunOver("limit", message)
    if stop in FAILING:
        return Failed(f"The turn ended early: {message}")
    if stop not in (Stop.COMPLETED, Stop.HOOK_STOPPED):
        raise RunOver("error", f"{message or stop} The feature goes on with the next run.")
    return Passed()


def _said(result: ToolResult) -> str:
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent))
