"""Every agent a session ever started, the living and those that ended: by id, and by name.

An id is never used again. A name is free again once its agent has ended.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from gatewright.agent.commands.outcome import Scope

if TYPE_CHECKING:
    from gatewright.agent.agents.life import Life


PERSON = "person"
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")  # what an agent may be called


class Member(msgspec.Struct, kw_only=True):
    """What is known of one; enough to go on with it."""

    id: str
    path: str
    owner: str
    kind: str
    name: str = ""
    description: str = ""
    model: str = ""
    status: str = "running"
    background: bool = False
    by_person: bool = False  # the person stopped it
    orphaned: bool = False  # who started it went back behind that
    worktree: str = ""
    mode: str = ""  # of the call that started it, for every run
    isolation: str = ""
    scope: Scope | None = None  # what a skill that it works on forbids, in this process

    @property
    def running(self) -> bool:
        return self.status == "running"


def _forbids(scope: Scope | None) -> Scope | None:
    """What of it holds as long as the agent can go on; what it allows ends with the run."""
    if scope is None:
        return None
    return msgspec.structs.replace(scope, allow=(), attachments=(), begin=None)


class Roster:
    def __init__(self) -> None:
        self.runs = 0
        self._members: dict[str, Member] = {}
        self._meant: dict[tuple[str, str], str] = {}  # whom an agent means by a name

    def began(self, life: Life, *, counts: bool = True) -> None:
        order = life.order
        self.runs += counts
        self._members[life.id] = Member(
            id=life.id,
            path=life.path,
            owner=order.owner,
            kind=order.kind.name,
            name=order.name,
            description=order.description,
            model=order.model,
            mode=order.mode,
            background=order.background,
            isolation=order.isolation,
            scope=_forbids(order.scope),
        )
        if order.name:
            self._meant[order.owner, order.name] = life.id

    def ended(self, life: Life) -> None:
        member = self._members[life.id]
        member.status = life.status()
        member.model = life.model
        member.background = life.background
        member.by_person = life.stopping == PERSON
        member.worktree = life.worktree

    def add(self, member: Member) -> None:
        """One of an earlier process."""
        self._members.setdefault(member.id, member)
        self.runs += 1

    def __contains__(self, id: str) -> bool:
        return id in self._members

    def members(self) -> Sequence[Member]:
        return list(self._members.values())

    def by_id(self, id: str) -> Member | None:
        return self._members.get(id)

    def named(self, name: str) -> Member | None:
        """The living one of that name, else who had it last."""
        found = [each for each in self._members.values() if each.name == name]
        return next((each for each in found if each.running), found[-1] if found else None)

    def meant(self, sender: str, name: str, id: str) -> bool:
        """Whether the sender means this agent by the name, as far as is known."""
        return self._meant.setdefault((sender, name), id) == id
