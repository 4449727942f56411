"""--auto-continue: behind each turn of it the session goes on by itself, over the list if there is
one, else as long as the model says that the person's goal stands open.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import msgspec

from gatewright.agent.agents.inert_text import as_data
from gatewright.agent.autonomy.project.features import ProjectError
from gatewright.agent.autonomy.project.project_run import Ended, RunOver, Wanted
from gatewright.agent.errors import GatewrightError
from gatewright.agent.extensions.host import Host
from gatewright.agent.extensions.project.mode_loan import AUTO
from gatewright.agent.extensions.project.project_session import ProjectSession
from gatewright.agent.extensions.project.project_turns import STOPPED, came_to
from gatewright.agent.models.model import OpenModel
from gatewright.agent.models.short_answer import booked
from gatewright.agent.providers.protocol import Request
from gatewright.agent.record.events import Noticed, TurnEnded
from gatewright.agent.record.messages import TextPart, UserTurn
from gatewright.agent.turn.answer_stream import Assembly
from gatewright.agent.turn.stop import Stop
from gatewright.agent.turn.valid_history import paired
from gatewright.tools.access import MAIN
from gatewright.tools.blocks import Tone
from gatewright.tools.protocol import TextContent

ROUNDS = 10
MOST = 500  # tokens of an answer
SECONDS = 90.0
STEP = 1_000  # characters of what is to be done next
ASKED = (
    "Notice of this program: this session goes on by itself until the person's goal is reached, "
    "and nobody may be there. Does anything of that goal stand open that you can do now, without "
    "the person? What was refused, or waits for the person, does not. Answer with nothing but a "
    'JSON value, and call no tool: {"open": true or false, "next": "what is to be done next, in '
    'one sentence"}'
)
GO_ON = (
    "Notice of this program: nobody typed this. You said that the goal stands open, and that this "
    "is next:\n<next-step>\n{step}\n</next-step>\nDo it, as far as you may without the person."
)


class Standing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    open: bool
    next: str = ""


class GoingOn:
    """From the first turn that nobody's work follows to the end of the goal or a limit."""

    def __init__(self, host: Host, project: ProjectSession) -> None:
        self._host, self._project = host, project
        self.rounds = 0
        self._task: asyncio.Task[None] | None = None

    def listed(self) -> bool:
        """Whether there is a list with something left to do."""
        try:
            return self._project.file.read().next is not None
        except ProjectError:
            return False

    def begins(self) -> None:
        """Without a prompt: over the list."""
        if self._task is None and self.listed():
            self._start()

    def saw(self, event: object) -> None:
        """A turn of the person's has ended: work that nobody typed is waited for elsewhere."""
        idle = self._task is None and not self._project.running
        if idle and isinstance(event, TurnEnded) and event.stop is Stop.COMPLETED:
            self._start()

    def _start(self) -> None:
        self.rounds = 0
        self._task = asyncio.create_task(self._go(), name="goes on")
        self._host.session.jobs_of(MAIN).all.preparing(self._task, "project")
        self._task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        del task
        self._task = None

    async def _go(self) -> None:
        await self._host.session.idle()
        ended = Ended("finished", "")
        try:
            if self.listed():
                self._project.begin(Wanted(auto=True))
                await self._project.over()
                return
            ended = await self._rounds()
        except RunOver as over:
            ended = over.ended
        except ProjectError as error:
            ended = Ended("error", str(error))
        if ended.how == "limit":
            self._project.limit = ended.text
        if ended.text:
            tone: Tone = "dim" if ended.how == "finished" else "warning"
            self._host.publish(Noticed(text=ended.text, tone=tone))

    async def _rounds(self) -> Ended:
        turns, bounds = self._project.turns, self._project.bounds
        while True:
            if turns.main.requests_left == 0:
                return Ended("limit", "The requests of --max-turns are used up.")
            if why := bounds.may():
                return Ended("limit", why)
            standing = await turns.alone(self._asked)
            if standing is None or not standing.open:
                return Ended("finished", "" if standing is not None else "Nothing goes on.")
            if self.rounds >= ROUNDS:
                return Ended("limit", f"It went on {ROUNDS} times, the most there may be.")
            self.rounds += 1
            self._tell_round(standing)
            step = as_data(standing.next[:STEP])[0]
            ended = await turns.turn(GO_ON.format(step=step), "project", self._named)
            if ended.stop in STOPPED and (why := bounds.may()):
                return Ended("limit", why)
            came_to(ended)

    def _named(self, id: str) -> None:
        """Its person named the mode with the flag."""
        self._project.bounds.modes[id] = AUTO

    def _tell_round(self, standing: Standing) -> None:
        said = " ".join(standing.next.split())[:200]
        self._host.publish(Noticed(text=f"Goes on ({self.rounds} of {ROUNDS}): {said}", tone="dim"))

    async def _asked(self) -> Standing | None:
        """What the model says of the goal; None where that is no answer."""
        main = self._project.turns.main
        try:
            model = await main.models.needed()
            text = await self._answer(model)
        except TimeoutError:
            self._host.warn(f"Whether the goal is reached was not said within {SECONDS:g} s.")
            return None
        except GatewrightError as error:
            self._host.warn(f"Whether the goal is reached could not be asked: {error}")
            return None
        try:
            return msgspec.json.decode(_bare(text), type=Standing)
        except (msgspec.DecodeError, RecursionError):
            self._host.warn("The model did not say whether the goal is reached: the session waits.")
            return None

    async def _answer(self, model: OpenModel) -> str:
        """One request on the running prefix. Raises GatewrightError, TimeoutError."""
        turns, frame = self._project.turns.main.talk.view(), model.frame
        request = Request(
            model=frame.model,
            system=frame.system,
            tools=frame.tools,
            turns=paired((*turns, UserTurn((TextContent(ASKED),)))),
            max_output=min(MOST, frame.max_output),
            effort=frame.effort,
            session=frame.session,
            agent=MAIN,
        )
        assembly = Assembly(frozenset())
        try:
            async with asyncio.timeout(SECONDS), aclosing(model.provider.stream(request)) as pieces:
                async for piece in pieces:
                    assembly.add(piece)
        finally:
            booked(self._host.publish, model, "goal")(assembly.usage)
        return " ".join(part.text for part in assembly.parts if isinstance(part, TextPart))

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})


def _bare(text: str) -> str:
    """The answer alone; a fence around it is forgiven."""
    bare = text.strip()
    if bare.startswith("```"):
        bare = bare.partition("\n")[2].rpartition("```")[0]
    return bare
