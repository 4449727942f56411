"""What the files say of agents whose process is gone: who they were, how far they came.

Nothing starts again by itself. A torn or strange line costs that line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from gatewright.agent.agents.inert_text import told_as_data
from gatewright.agent.agents.roster import Member
from gatewright.agent.errors import SessionError
from gatewright.agent.record.agent_costs import AgentCosts
from gatewright.agent.record.events import (
    AgentFinished,
    AgentStarted,
    AssistantMessage,
    Decided,
    Envelope,
    ToolFinished,
    ToolStarted,
    UserMessage,
)
from gatewright.agent.record.messages import TextPart
from gatewright.agent.record.spending import Spending
from gatewright.agent.transcript.reader import read_transcript
from gatewright.tools.protocol import TextContent

CUT = "[Cut off: the process that ran it ended. What it changed so far stays changed.]"


class Recovered(msgspec.Struct, frozen=True):
    members: tuple[Member, ...] = ()
    ends: tuple[AgentFinished, ...] = ()  # of those that have none
    lost: Mapping[str, str] = {}  # by call: what its result says
    told: tuple[str, ...] = ()  # of background ones, for the model


class _Past(msgspec.Struct):
    started: AgentStarted
    owner: str
    seq: int
    finished: AgentFinished | None = None
    noticed: bool = False


def conversation_of(path: Path) -> tuple[Envelope, ...]:
    """What was said, to go on from. Raises SessionError."""
    return read_transcript(path).branch


def recovered(stored: Sequence[Envelope], folder: Path) -> Recovered:
    """From the conversation of whoever started them, and their own files."""
    known = _known(stored)
    answered = {e.event.call_id for e in stored if isinstance(e.event, ToolFinished)}
    members, ends, told = list[Member](), list[AgentFinished](), list[str]()
    lost: dict[str, str] = {}
    for child, past in known.items():
        end = past.finished
        if end is None:
            end = _interrupted(past.started, folder)
            ends.append(end)
        members.append(_member(child, past, end))
        call = past.started.call_id
        text = _text(end)
        if call and call not in answered and not past.started.resumed:
            lost[call] = text
        elif not past.noticed and (end.background or past.finished is None):
            told.append(f"Agent {_id(child)} ({past.started.description}) has ended.\n{text}")
    return Recovered(tuple(members), tuple(ends), lost, tuple(told))


def _known(stored: Sequence[Envelope]) -> dict[str, _Past]:
    known: dict[str, _Past] = {}
    for seq, envelope in enumerate(stored, 1):
        match envelope.event:
            case AgentStarted(child=child) as started:
                known[child] = _Past(started, envelope.agent, seq)
            case AgentFinished(child=child) as finished if child in known:
                known[child].finished = finished
            case UserMessage(hidden=True, source="job", content=content):
                _noticed(known, "".join(p.text for p in content if isinstance(p, TextContent)))
            case ToolFinished(content=content):
                _noticed(known, "".join(p.text for p in content if isinstance(p, TextContent)))
            case _:
                pass
    return known


def _noticed(known: Mapping[str, _Past], text: str) -> None:
    """The model was told of an end: by a notice, TaskOutput or TaskStop."""
    for child, past in known.items():
        if past.finished is not None and not past.noticed and _id(child) in text:
            past.noticed = True


def _interrupted(started: AgentStarted, folder: Path) -> AgentFinished:
    said, tools, refused = "", 0, 0
    try:
        branch = conversation_of(folder / f"{_id(started.child)}.jsonl")
    except SessionError:
        branch = ()
    spent = Spending()
    spent.restore(envelope.event for envelope in branch)
    for envelope in branch:
        match envelope.event:
            case AssistantMessage() as message:
                text = "".join(p.text for p in message.parts if isinstance(p, TextPart)).strip()
                said = text or said
            case ToolStarted():
                tools += 1
            case Decided(behavior="deny"):
                refused += 1
            case _:
                pass
    return AgentFinished(
        child=started.child,
        ok=False,
        report=said,
        status="interrupted",
        usage=spent.usage,
        cost=spent.cost,
        below=tuple(AgentCosts.after(envelope.event for envelope in branch).all),
        tools=tools,
        refused=refused,
        call_id=started.call_id,
        name=started.name,
        background=started.background,
    )


def _text(end: AgentFinished) -> str:
    parts = [f"Status: {end.status}"]
    if end.report:
        parts.append(told_as_data(end.report))
    if end.status == "interrupted":
        parts.append(CUT)
    parts.append(f"agentId: {_id(end.child)}. SendMessage to that id goes on with it.")
    return "\n".join(parts)


def _member(child: str, past: _Past, end: AgentFinished) -> Member:
    started = past.started
    return Member(
        id=_id(child),
        path=child,
        owner=past.owner,
        kind=started.kind,
        name=started.name,
        description=started.description,
        model=started.model,
        mode=started.mode,
        status=end.status,
        background=end.background,
        seq=past.seq,
        worktree=end.worktree,
    )


def _id(child: str) -> str:
    return child.rpartition("/")[2]
