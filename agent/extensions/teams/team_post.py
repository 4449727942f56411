"""What members of a team and their lead write to each other, and the answers that are still owed.

Mail lies in the member's own file until it reads it. Only the call of whom a request was sent to
answers it, once: what stands in a message never ends a member nor approves a plan.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Mapping
from typing import Protocol

import msgspec

from gatewright.agent.agents.inert_text import told_as_data
from gatewright.agent.agents.team_words import (
    PlanRequest,
    PlanResponse,
    ShutdownRequest,
    ShutdownResponse,
    TeamWord,
)
from gatewright.agent.teams.team import Mail, TeamError, TeamFolder
from gatewright.tools.access import MAIN
from gatewright.tools.protocol import ToolFailure

OWED = 200  # answers; more requests than a team has members
SHUTDOWN, PLAN = "shutdown", "plan"
END = "You are released. Say in your report what is left to do, and end your turn now."
RELEASED = "You agreed to end: say what is left to do, and end your turn."


class TeamPorts(Protocol):
    @property
    def folder(self) -> TeamFolder | None: ...

    async def arrived(self, path: str) -> str:
        """It has mail; why it cannot read that now, if it cannot."""
        ...


class Request(msgspec.Struct, frozen=True):
    kind: str
    path: str  # of the member


class TeamPost:
    """Implements `TeamMail`."""

    def __init__(
        self,
        team: TeamPorts,
        names: dict[str, str],
        tell_lead: Callable[[str], object],
        approved: Callable[[str], str],
    ) -> None:
        self._team, self._names = team, names
        self._tell_lead, self._approved = tell_lead, approved
        self._owed: dict[str, Request] = {}
        self.leaving: set[str] = set()  # who agreed to end and has not yet

    @property
    def members(self) -> Mapping[str, str]:
        return self._names if self._team.folder is not None else {}

    def awaits(self, path: str) -> bool:
        """Its plan is with the lead: there is no other work for it."""
        return any(each == Request(PLAN, path) for each in self._owed.values())

    def left(self, path: str) -> None:
        self.leaving.discard(path)
        for id in [id for id, each in self._owed.items() if each.path == path]:
            del self._owed[id]

    # --- mail ---

    async def post(self, path: str, sender: str, text: str) -> str:
        return await self._post(path, Mail(sender, text))

    async def _post(self, path: str, mail: Mail) -> str:
        await self._write(path, mail)
        return await self._handed(path)

    async def _write(self, path: str, mail: Mail) -> None:
        folder = self._team.folder
        if folder is None or path not in self._names:
            raise ToolFailure("It is no member of a team any more.")
        try:
            await asyncio.to_thread(folder.send, self._names[path], mail)
        except (TeamError, OSError) as error:
            raise ToolFailure(f"The message was not sent: {error}") from error

    async def _handed(self, path: str) -> str:
        name = self._names.get(path, path)
        if why := await self._team.arrived(path):
            return f"It lies in the mailbox of {name}, which cannot read it yet: {why}"
        return f"Sent to {name}, which reads it at its next step."

    # --- set forms ---

    async def word(self, sender: str, to: str, word: TeamWord) -> str:
        match word:
            case ShutdownRequest():
                self._lead_alone(sender, to, "asks a member to end")
                mail = Mail("the lead", word.reason, form="shutdown_request")
                return await self._ask_to_end(to, mail)
            case PlanResponse():
                self._lead_alone(sender, to, "answers a plan")
                return await self._answer_plan(to, word)
            case ShutdownResponse():
                self._member_alone(sender, to)
                return self._answer_shutdown(sender, word)
            case PlanRequest():
                self._member_alone(sender, to)
                return self._ask_for_plan(sender, word)

    def _lead_alone(self, sender: str, to: str, does: str) -> None:
        if sender != MAIN:
            raise ToolFailure(f"Only the lead {does}.")
        if to not in self._names:
            raise ToolFailure("That goes to a member of the team.")

    def _member_alone(self, sender: str, to: str) -> None:
        if sender not in self._names or to != MAIN:
            raise ToolFailure("That goes from a member of the team to main.")

    def _owes(self, kind: str, path: str) -> str:
        """In place of an earlier one of that kind."""
        for id in [id for id, each in self._owed.items() if each == Request(kind, path)]:
            del self._owed[id]
        while len(self._owed) >= OWED:
            del self._owed[next(iter(self._owed))]
        id = f"{kind}-{secrets.token_hex(4)}@{self._names[path]}"
        self._owed[id] = Request(kind, path)
        return id

    def _open(self, id: str, wanted: Request) -> None:
        if self._owed.get(id) != wanted:
            known = [each for each, request in self._owed.items() if request == wanted]
            raise ToolFailure(
                f"There is no such request open with the request_id {id!r:.80}. "
                f"Open: {', '.join(known) or 'none'}."
            )

    async def _ask_to_end(self, path: str, mail: Mail) -> str:
        id = self._owes(SHUTDOWN, path)
        try:
            said = await self._post(path, msgspec.structs.replace(mail, request=id))
        except ToolFailure:
            self._owed.pop(id, None)
            raise
        return f"{said}\nIts answer comes by itself.\nrequest_id: {id}"

    def _answer_shutdown(self, path: str, word: ShutdownResponse) -> str:
        self._open(word.request_id, Request(SHUTDOWN, path))
        if not (word.approve or word.reason.strip()):
            raise ToolFailure("Say in `reason` why you do not end.")
        del self._owed[word.request_id]
        name = self._names[path]
        reason = f"\n{told_as_data(word.reason)}" if word.reason.strip() else ""
        if not word.approve:
            self._tell_lead(f"{name} does not end. Its reason:{reason}")
            return "The lead is told. Go on with your work."
        self.leaving.add(path)
        self._tell_lead(f"{name} agrees to end, and leaves the team.{reason}")
        return END

    def _ask_for_plan(self, path: str, word: PlanRequest) -> str:
        if not word.plan.strip():
            raise ToolFailure("The plan is empty.")
        id = self._owes(PLAN, path)
        self._tell_lead(
            f"{self._names[path]} asks you to approve its plan. Answer with SendMessage to it, "
            f'message {{"type": "plan_approval_response", "request_id": "{id}", "approve": true}}, '
            f'or "approve": false and "feedback". Its plan:\n{told_as_data(word.plan)}'
        )
        return "The lead has your plan. End your turn now: its answer comes by itself."

    async def _answer_plan(self, path: str, word: PlanResponse) -> str:
        wanted = Request(PLAN, path)
        self._open(word.request_id, wanted)
        mode = self._approved(path) if word.approve else ""
        del self._owed[word.request_id]
        form = "plan_approved" if word.approve else "plan_refused"
        said = await self._post(path, Mail("the lead", word.feedback, form=form))
        return f"{said}\nIt works in {mode} mode at most." if word.approve else said
