"""What agents of a team say to each other in set forms, as the public SendMessage tool has them.

A form from an agent that may not say it is an error of its own call: no text is ever one of these.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, TypeAlias

import msgspec

LEAD = "team-lead"  # by which the lead may be called, too
ALL = "*"


class ShutdownRequest(msgspec.Struct, frozen=True, tag="shutdown_request"):
    reason: str = ""


class ShutdownResponse(msgspec.Struct, frozen=True, tag="shutdown_response"):
    request_id: str
    approve: bool
    reason: str = ""


class PlanRequest(msgspec.Struct, frozen=True, tag="plan_approval_request"):
    plan: str


class PlanResponse(msgspec.Struct, frozen=True, tag="plan_approval_response"):
    request_id: str
    approve: bool
    feedback: str = ""


TeamWord: TypeAlias = ShutdownRequest | ShutdownResponse | PlanRequest | PlanResponse
Said: TypeAlias = str | TeamWord


class TeamMail(Protocol):
    """The mailboxes of a team that there is. All raise ToolFailure, which the sender reads."""

    @property
    def members(self) -> Mapping[str, str]:
        """Their names, by path; nobody where no team is led."""
        ...

    async def post(self, path: str, sender: str, text: str) -> str:
        """What became of it; `sender` as people call it."""
        ...

    async def word(self, sender: str, to: str, word: TeamWord) -> str:
        """Both by path."""
        ...


def text_of(said: Said) -> str:
    """What of it is the writer's own wording."""
    match said:
        case str():
            return said
        case ShutdownRequest(reason=text) | ShutdownResponse(reason=text):
            return text
        case PlanRequest(plan=text) | PlanResponse(feedback=text):
            return text


def shown(said: Said) -> str:
    """For people, on one line."""
    match said:
        case str():
            return said
        case ShutdownRequest():
            return f"asked to end: {said.reason}".rstrip(": ")
        case PlanRequest():
            return "asks to approve its plan"
        case ShutdownResponse(approve=yes):
            return f"{'ends' if yes else 'does not end'}: {said.reason}".rstrip(": ")
        case PlanResponse(approve=yes):
            return f"plan {'approved' if yes else 'not approved'}: {said.feedback}".rstrip(": ")


def meant(text: str) -> Said:
    """Models write the form as a text, too; all else stays the text that it is."""
    if text.lstrip().startswith("{"):
        try:
            word: TeamWord = msgspec.json.decode(text, type=TeamWord)
        except msgspec.DecodeError:
            return text
        return word
    return text
