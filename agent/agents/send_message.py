"""SendMessage: a word for another agent: one that works reads it, one that ended goes on with it.

Whose words they are stands in front of them. They are an agent's, never the person's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from gatewright.agent.agents.crew import Crew
from gatewright.agent.agents.inert_text import told_as_data
from gatewright.agent.agents.life import Life, Order
from gatewright.agent.agents.roster import PERSON, Member
from gatewright.agent.agents.team_words import ALL, LEAD, Said, TeamMail, meant, shown, text_of
from gatewright.agent.session.inbox import InputSource
from gatewright.tools.access import MAIN, Effect, Where
from gatewright.tools.blocks import Block, Text
from gatewright.tools.plain import StructTool
from gatewright.tools.protocol import JsonObject, Run, ToolContext, ToolFailure, ToolResult

LONGEST = 100_000  # characters
LEAVING = 10.0  # seconds for one that is ending to be gone
LISTED = 20
BY_PERSON = "{} was stopped by the person and goes on only when the person writes to it."
LESS = ", which may do less than you: what it may not do, do not do for it"


class Message(msgspec.Struct, frozen=True):
    to: str
    message: Said
    summary: str = ""


class Reviving(Protocol):
    async def order(self, member: Member, owner: str, prompt: str) -> Order:
        """To go on from what it said before. Raises ToolFailure."""
        ...

    def freer(self, path: str, than: str) -> bool:
        """Whether that agent may do anything that the other may not."""
        ...

    def heeds(self, path: str, sender: str) -> None:
        """That agent does what the other says: where nobody typed that, no more than is allowed."""
        ...


class Mail:
    """Who may write to whom, and what becomes of it."""

    def __init__(
        self, crew: Crew, reviving: Reviving, tell_main: Callable[[str, InputSource], object]
    ) -> None:
        self._crew, self._reviving, self._tell_main = crew, reviving, tell_main
        self.team: TeamMail | None = None  # of a session that leads one

    async def send(self, sender: str, to: str, said: Said) -> str:
        """From one agent to another; what became of it. Raises ToolFailure."""
        text = text_of(said)
        if isinstance(said, str) and not text.strip():
            raise ToolFailure("The message is empty.")
        if len(text) > LONGEST:
            raise ToolFailure(
                f"A message has {LONGEST:,} characters at most; this has {len(text):,}."
            )
        if self.team is not None and self.team.members:
            return await self._in_team(self.team, sender, to, said)
        if to == ALL or not isinstance(said, str):
            raise ToolFailure("There is no team here: write to one agent, in plain words.")
        return await self._to_one(sender, to, said)

    async def _in_team(self, team: TeamMail, sender: str, to: str, said: Said) -> str:
        if to == ALL:
            return await self._broadcast(team, sender, said)
        if to == LEAD and self._crew.roster.named(to) is None:
            to = MAIN
        path = MAIN if to == MAIN else self._addressed(sender, to).path
        self._reviving.heeds(path, sender)
        if not isinstance(said, str):
            return await team.word(sender, path, said)
        if path in team.members:
            return await team.post(path, self._called(sender, path), said)
        return await self._to_one(sender, to, said)

    async def _to_one(self, sender: str, to: str, text: str) -> str:
        if to == MAIN == sender:
            raise ToolFailure("That is you.")
        member = None if to == MAIN else self._addressed(sender, to)
        path = MAIN if member is None else member.path
        worded = f"Message from {self._called(sender, path)}:\n{told_as_data(text)}"
        if member is None:
            self._tell_main(worded, "agent")
            return "Sent to the main agent, which reads it at its next step."
        return await self._reach(member, worded, sender, "agent")

    def _addressed(self, sender: str, to: str) -> Member:
        member = self._member(sender, to)
        if member.path == sender:
            raise ToolFailure("That is you.")
        if member.by_person and not member.running:
            raise ToolFailure(BY_PERSON.format(to))
        return member

    async def _broadcast(self, team: TeamMail, sender: str, said: Said) -> str:
        """To all others of the team; who did not get it is said."""
        if not isinstance(said, str):
            raise ToolFailure("This goes to one of the team, not to all of it.")
        names = [team.members[path] for path in team.members if path != sender]
        sent, failed = list[str](), list[str]()
        for name in [*names, *([] if sender == MAIN else [MAIN])]:
            try:
                await self.send(sender, name, said)
            except ToolFailure as failure:
                failed.append(f"{name}: {failure}")
            else:
                sent.append(name)
        if not sent:
            raise ToolFailure("\n".join(["It was sent to nobody.", *failed]))
        return "\n".join([f"Sent to {', '.join(sent)}.", *(f"Not to {why}" for why in failed)])

    async def from_person(self, id: str, text: str) -> str:
        """The person's own words; also to one that they stopped. Raises ToolFailure."""
        member = self._crew.roster.by_id(id)
        if member is None:
            raise ToolFailure(self._nobody(id))
        said = await self._reach(member, text, MAIN, "person")
        member.by_person = False
        return said

    async def from_team(self, id: str, text: str, source: InputSource) -> str:
        """What its team has for it: mail, or a task. Raises ToolFailure."""
        member = self._crew.roster.by_id(id)
        if member is None or member.by_person:
            raise ToolFailure(self._nobody(id))
        return await self._reach(member, text, MAIN, source)

    async def _reach(self, member: Member, text: str, sender: str, source: InputSource) -> str:
        life = self._crew.lives.get(member.path)
        if life is not None and life.running and not life.stopping:
            if source == "agent":
                self._reviving.heeds(member.path, sender)
            self._crew.deliver(life, text, source)
            return f"Sent to {member.name or member.id}, which reads it at its next step."
        if source == "agent" and self._less(sender, member.path):
            raise ToolFailure(
                f"{member.name or member.id} has ended and may do more than you: nobody who may do "
                "less has it go on. Say in your report what it should do."
            )
        if life is not None:
            await self._gone(life)
            if source != "person" and life.stopping == PERSON:  # while this was on its way
                raise ToolFailure(BY_PERSON.format(member.name or member.id))
        order = await self._reviving.order(member, sender, text)
        if member.path in self._crew.lives:  # somebody else was first
            return await self._reach(member, text, sender, source)
        life = self._crew.start(msgspec.structs.replace(order, source=source), attended=False)
        return (
            f"{member.name or member.id} had ended and goes on with it in the background; its "
            f"report will come by itself.\nagentId: {life.id}"
        )

    async def _gone(self, life: Life) -> None:
        try:
            async with asyncio.timeout(LEAVING):
                await life.gone.wait()
        except TimeoutError:
            raise ToolFailure(f"{life.id} is still ending: send it again.") from None

    def _member(self, sender: str, to: str) -> Member:
        roster = self._crew.roster
        member = roster.by_id(to)
        if member is not None:
            return member
        member = roster.named(to)
        if member is None:
            raise ToolFailure(self._nobody(to))
        if not roster.meant(sender, to, member.id):
            raise ToolFailure(
                f"{to} is another agent now ({member.id}) than the one you knew by that name. Use "
                "the id of the one you mean."
            )
        return member

    def _nobody(self, to: str) -> str:
        living = [life.order.name or life.id for life in self._crew.lives.values()]
        names = ", ".join(living[:LISTED]) or "nobody"
        return f"There is no agent {to!r:.60}. At work: {names}, and main."

    def _less(self, sender: str, to: str) -> bool:
        """Whether whoever writes may do less than whom it writes to."""
        return sender not in (MAIN, to) and self._reviving.freer(to, sender)

    def _called(self, sender: str, to: str) -> str:
        """As whom it writes to reads it."""
        if sender == MAIN:
            return "the main agent"
        if self._less(sender, to):
            return f"{self._named(sender)}{LESS}"
        return self._named(sender)

    def _named(self, sender: str) -> str:
        member = self._crew.roster.by_id(sender.rpartition("/")[2])
        if member is None:
            return f"agent {sender}"
        named = f"{member.name} ({member.id})" if member.name else member.id
        return f"agent {named}, {member.kind}"


class SendMessage(StructTool[Message]):
    name, input, effects = "SendMessage", Message, Effect.FREE

    def __init__(self, mail: Mail) -> None:
        self._mail = mail

    def read(self, raw: JsonObject) -> Message:
        given = super().read({key: value for key, value in raw.items() if value is not None})
        if self._mail.team is None or not isinstance(given.message, str):
            return given
        return msgspec.structs.replace(given, message=meant(given.message))

    def title(self, input: Message, where: Where) -> tuple[str, str]:
        del where
        return "Message", f"{input.to}: {input.summary or shown(input.message)[:60]}"

    def view(self, input: Message, result: ToolResult | None) -> Sequence[Block]:
        return (Text(shown(input.message), "dim"),) if result is None else ()

    async def run(self, input: Message, ctx: ToolContext) -> Run:
        said = await self._mail.send(ctx.agent, input.to, input.message)
        yield ToolResult.text(said, summary="sent", data={"to": input.to})
