"""What the screen asks of the session, in one place; usable before there is a session.

Whatever is sent early is kept in order and sent as soon as the session is open.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, assert_never

from msgspec.structs import replace

from gatewright.agent.commands.outcome import (
    Change,
    Offer,
    Outcome,
    Problem,
    Quit,
    Say,
    Secret,
    SetUi,
    Submit,
    Switch,
    said,
)
from gatewright.agent.commands.registry import Commands, Front, Mention
from gatewright.tools.access import MAIN
from gatewright.tools.blocks import Block, Command, Output, Text, Tone, plain
from gatewright.tools.interact import Answer, Weighed
from gatewright.tools.protocol import Content, TextContent, ToolFailure
from gatewright.tui.shell import OwnShell
from gatewright.tui.transcript.items import Note, Said, Shown, ToolRun
from gatewright.tui.work import Work

if TYPE_CHECKING:
    from gatewright.agent.client.port import (
        SessionClient,
        Taken,
    )  # the screen is there before the core
    from gatewright.tui.app import AgentApp  # it makes this


NO_MODEL = "no model yet: /setup chooses one"


class Message(NamedTuple):
    """What the person sends, what is attached, and what of the text they wrote (None: all)."""

    text: str
    attached: tuple[Content, ...]
    typed: str | None = None


class Talk:
    """Sends, answers, interrupts; holds what has to wait."""

    def __init__(self, host: AgentApp) -> None:
        self._host = host
        self._early: list[Message] = []  # before there was a session
        self._asked: list[Message] = []  # before anything could answer
        self._empty = Commands()
        self._shell = OwnShell()
        self._told: list[str] = []  # output of own commands, for the next message
        self._turns = 0  # of the mode, before there was a session
        self.to = MAIN  # the agent that a message is for
        self.session: SessionClient | None = None

    def begin(self, session: SessionClient) -> None:
        """There is a session: send what waited for it."""
        self.session = session
        if session.setup_due and (self._asked or not self._early):
            self._host.spawn(partial(self._set_up, session))
        for _ in range(self._turns):
            session.cycle_mode()
        self._turns = 0
        early, self._early = self._early, []
        if early or self._asked:
            self._show_waiting()
        self._submit_asked(session)
        for message in early:
            self.send(*message)

    def first(self, text: str) -> None:
        """A message from before there was a screen, whatever it begins with."""
        self._asked.append(Message(text, ()))

    def hold(self) -> None:
        """Keep what is sent until there is a session again."""
        self.session = None

    def forget(self) -> None:
        """What own commands put out was for the session that is left."""
        self._told.clear()

    @property
    def busy_shell(self) -> bool:
        """A command of the person's own runs."""
        return self._shell.running

    def commands(self) -> Commands:
        return self.session.commands if self.session is not None else self._empty

    def send(self, text: str, attached: tuple[Content, ...] = (), typed: str | None = None) -> None:
        """A message, a `/command`, an own `!command` or a `#line` to remember."""
        if self.session is None:
            self._early.append(Message(text, attached, typed))
            self._show_waiting()
        elif text.startswith("/") and not text.startswith("//"):
            line, session = text.strip(), self.session
            self.follow(line, lambda: session.commands.run(line, self._front, busy=session.busy))
        elif text.startswith("!") and text[1:].strip():
            self._host.spawn(partial(self._own, text[1:].strip()))
        elif line := remembered(text):
            self.follow(text.strip(), partial(self.session.remember, line))
        else:
            self.ask(text, attached, typed)

    def typing(self) -> None:
        """The person began to write a message."""
        if self.session is not None and not self.session.setup_due:
            self.session.typing()

    def ask(self, text: str, attached: tuple[Content, ...] = (), typed: str | None = None) -> None:
        """A message to the model whatever it begins with; it waits until one can answer."""
        session = self.session
        if session is not None and not session.setup_due:
            told = tuple(TextContent(text) for text in self._told)
            self._told.clear()
            session.submit(text, (*told, *attached), typed=typed, agent=self.to)
            return
        self._asked.append(Message(text, attached, typed))
        self._show_waiting()
        if session is not None:
            self._host.spawn(partial(self._set_up, session))

    def call(self, name: str, args: str = "") -> None:
        """A key that does what a command does."""
        if self.session is not None:
            call = self.session.commands.call
            self.follow(f"/{name}", partial(call, name, args, front=self._front))

    def follow(self, line: str, work: Callable[[], Awaitable[Outcome]]) -> None:
        """Apply what this leads to, and show it below the line that a person would type for it."""
        if self.session is not None:
            self._host.spawn(partial(self._follow, self.session, line, work))

    async def keep_setting(self, key: str, value: str) -> Outcome:
        """Keep a setting in the person's own file."""
        if self.session is None:
            return Problem.of("There is no session yet.")
        return await self.session.keep_setting(key, value)

    def give(self, asked: Secret, text: str) -> None:
        """Hand over what was typed into a masked field; only what is said about it is shown."""
        self._host.spawn(partial(self._give, asked, text))

    def answer(self, ask: int, answer: Answer) -> None:
        if self.session is not None:
            self.session.answer(ask, answer)

    async def weigh(self, ask: int, rules: tuple[str, ...]) -> Weighed:
        """What an "always" with these rules would do."""
        if self.session is None:
            return Weighed(problem="There is no session any more.")
        return await self.session.weigh(ask, rules)

    def stop_agent(self, path: str) -> None:
        """End an agent and all below it; what cannot be done is told."""
        if self.session is not None:
            self.follow("", partial(self.session.stop_agent, path))

    def resume_agent(self, path: str) -> None:
        """Let an agent that ended go on."""
        if self.session is not None:
            self.follow("", partial(self.session.resume_agent, path))

    def stop(self) -> bool:
        """Stop the own command, else the turn; False when nothing ran."""
        if self._shell.stop():
            return True
        return self.session.interrupt() if self.session is not None else False

    async def close(self) -> None:
        """The program ends: an own command ends with it."""
        await self._shell.close()

    def spawn(self, work: Work) -> None:
        self._host.spawn(work)

    def to_background(self) -> bool:
        """Let the running commands go on in the background; False when there were none."""
        return self.session is not None and bool(self.session.to_background())

    def recall(self, give: Callable[[Sequence[Message]], None]) -> bool:
        """Take back what was not taken up yet; False where nothing waits."""
        if self.session is None or self._asked:
            waiting = [*self._asked, *self._early]
            self._asked, self._early = [], []
            self._show_waiting()
            if waiting:
                give(waiting)
            return bool(waiting)

        def taken(contents: Sequence[Taken]) -> None:
            messages = [_message(content) for content in contents]
            for _, told in reversed(messages):
                self._told[:0] = told
            give([message for message, _ in messages])

        return self.session.take_back(taken)

    async def mentions(self, begun: str) -> Sequence[Mention]:
        """How a name behind @ that begins so may go on, besides files."""
        return await self.session.mentions(begun) if self.session is not None else ()

    def cycle_mode(self) -> None:
        if self.session is None:
            self._turns += 1
        else:
            self.session.cycle_mode()

    def leave(self) -> None:
        """Once the person knows what is stopped by that."""
        self._host.switching.leave()

    def leave_now(self) -> None:
        self._host.spawn(self._host.leave)

    def say(self, title: str, blocks: Sequence[Block]) -> None:
        """Show the answer of a command below it."""
        number = self._host.add(Said(0, title))
        self._host.add(Shown(0, "", tuple(blocks) or (Text("Nothing to show.", "dim"),)))
        self._host.repl.transcript.reveal(number)

    def note(self, text: str, tone: Tone = "normal") -> None:
        self._host.add(Note(0, text, tone))

    @property
    def _front(self) -> Front:
        return Front(switches=self._host.switches, panels=True)

    async def _follow(
        self, session: SessionClient, line: str, work: Callable[[], Awaitable[Outcome]]
    ) -> None:
        await self._show(line, await session.apply(await work(), self._front))
        if self.session is session:
            self._submit_asked(session)

    def _submit_asked(self, session: SessionClient) -> None:
        """Send what waits for somebody who can answer, once there is."""
        if self._asked and not session.setup_due:
            asked, self._asked = self._asked, []
            self._show_waiting()
            for message in asked:
                self.ask(*message)

    def _show_waiting(self) -> None:
        self._host.show_queue([message.text for message in (*self._asked, *self._early)])

    async def _give(self, asked: Secret, text: str) -> None:
        if self.session is not None:
            await self._follow(self.session, asked.title, lambda: asked.take(text))

    async def _set_up(self, session: SessionClient) -> None:
        """Nothing could answer: offer what there is, once nothing else is asked."""
        await session.opened()
        if self.session is session and session.setup_due:
            self.call("setup")

    @property
    def answering(self) -> str:
        """The model and where it comes from; what to do where there is none."""
        if self.session is None:
            return ""
        return NO_MODEL if self.session.setup_due else self.session.answering

    @property
    def instructions(self) -> Sequence[str] | None:
        """The files that the model is told; None while nobody knows."""
        return self.session.instructions if self.session is not None else None

    async def _show(self, line: str, outcome: Outcome) -> None:
        match outcome:
            case Say():
                self._tell(line, outcome.blocks)
            case Offer():
                if isinstance(outcome, Secret):
                    self._tell(line, outcome.told)
                if not self._host.repl.reach.open_panel(outcome):
                    self.say(line, said(outcome))
            case Quit():
                self._host.switching.leave()
            case Switch():
                self._host.switch(outcome)
            case Change(operation=operation):
                if isinstance(operation, SetUi):
                    self._host.repl.reach.take_up(operation)
                self._tell(line, outcome.said)
            case Submit():
                pass
            case _:
                assert_never(outcome)

    def _tell(self, line: str, blocks: Sequence[Block]) -> None:
        """A key or a form has no line: what it says is a note."""
        if blocks and line:
            self.say(line, blocks)
        else:
            for block in blocks:
                self.note(plain(block), "dim")

    async def _own(self, command: str) -> None:
        if self._shell.running:
            self.note("Another command of yours still runs. Esc stops it.", "warning")
            return
        item = ToolRun(0, "", "shell", "You ran", command)
        item = replace(item, id=self._host.add(item))
        try:
            ran = await self._shell.run(command, self._host.folder())
        except ToolFailure as error:
            self._host.patch(replace(item, state="failed", text=str(error)))
            return
        self._told.append(ran.for_model())
        done = replace(
            item,
            state="failed" if ran.exit else "ok",
            summary=ran.ended if ran.exit else "done",
            ms=ran.ms,
            view=(Command(command), Output(ran.shown(), ran.exit or None, ran.hidden)),
        )
        self._host.patch(done)


def _message(content: Sequence[Content]) -> tuple[Message, list[str]]:
    """A message taken back, apart from what own commands had printed before it."""
    text = content[0].text if content and isinstance(content[0], TextContent) else ""
    told = [part.text for part in content[1:] if isinstance(part, TextContent)]
    attached = tuple(part for part in content if not isinstance(part, TextContent))
    return Message(text, attached), told


def remembered(text: str) -> str:
    """The line that `#line` adds to memory; empty for a message, be it Markdown or about `#12`."""
    line = text.strip()
    if not line.startswith("#") or "\n" in line or line[1:2].isdigit() or line[1:2] == "#":
        return ""
    return line[1:].strip()
