"""What the files say of agents whose process is gone: who they were, how far they came.

Nothing starts again by itself. A torn or strange line costs that line.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import UNSET

from gatewright.agent.agents.inert_text import in_line, told_as_data
from gatewright.agent.agents.lineage import Told, id_of, is_path
from gatewright.agent.agents.roster import NAME, PERSON, Member
from gatewright.agent.errors import SessionError
from gatewright.agent.record import codec as wire
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
from gatewright.agent.transcript.reader import decoded, head_and_tail, read_transcript
from gatewright.tools.access import MAIN
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
    finished: AgentFinished | None = None
    noticed: bool = False


def conversation_of(path: Path) -> tuple[Envelope, ...]:
    """What was said, to go on from. Raises SessionError."""
    return read_transcript(path).branch


def recovered(stored: Sequence[Envelope], past: Told, folder: Path) -> Recovered:
    """From the conversation that goes on, all that is stored of it, and the agents' own files."""
    known = _known(past.branch)
    answered = {e.event.call_id for e in stored if isinstance(e.event, ToolFinished)}
    asked = {e.event.call_id for e in stored if isinstance(e.event, AgentStarted)}
    members, ends, told = list[Member](), list[AgentFinished](), list[str]()
    lost: dict[str, str] = {}
    for child, one in known.items():
        end = one.finished
        if end is None:
            end = past.ends.get(child) or interrupted(one.started, folder)
            ends.append(end)
        members.append(_member(one.started, one.owner, end))
        call = one.started.call_id
        text = _text(end)
        if call in asked and call and call not in answered and not one.started.resumed:
            lost[call] = text
        elif not one.noticed and (end.background or one.finished is None):
            about = in_line(one.started.description)
            told.append(f"Agent {id_of(child)} ({about}) has ended.\n{text}")
    for child, started in past.starts.items():
        if child not in known:
            members.append(_member(started, MAIN, past.ends.get(child), orphaned=True))
    members += _only_in_files(folder, {member.id for member in members})
    return Recovered(tuple(members), tuple(ends), lost, tuple(told))


def _known(branch: Sequence[Envelope]) -> dict[str, _Past]:
    known: dict[str, _Past] = {}
    for envelope in branch:
        match envelope.event:
            case AgentStarted(child=child) as started if is_path(child):
                known[child] = _Past(started, envelope.agent)
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
        if past.finished is not None and not past.noticed and id_of(child) in text:
            past.noticed = True


def _only_in_files(folder: Path, known: Collection[str]) -> Iterator[Member]:
    """Those that others than the main agent started."""
    for file in sorted(folder.glob("a*.jsonl")):
        if file.stem in known:
            continue
        try:
            head, tail = head_and_tail(file)
            about = wire.decode_header(head[0] if head else b"").agent
        except (OSError, wire.WireError):
            continue
        if about is UNSET or id_of(path := about.get("path", "")) != file.stem:
            continue
        if not is_path(path):
            continue
        ended = [e.event for e in decoded(tail) if isinstance(e.event, AgentFinished)]
        ends = [end for end in ended if end.child == path]
        yield Member(
            id=file.stem,
            path=path,
            owner=path.rpartition("/")[0],
            kind=in_line(about.get("kind", "")),
            name=_name(about.get("name", "")),
            description=about.get("description", ""),
            model=about.get("model", ""),
            status=ends[-1].status if ends else "interrupted",
            background=ends[-1].background if ends else False,
            by_person=bool(ends) and ends[-1].stopped_by == PERSON,
            worktree=ends[-1].worktree if ends else about.get("worktree", ""),
            mode=about.get("mode", ""),
            isolation=about.get("isolation", ""),
        )


def interrupted(started: AgentStarted, folder: Path) -> AgentFinished:
    """How far it came, by its own file."""
    said, tools, refused = "", 0, 0
    try:
        branch = conversation_of(folder / f"{id_of(started.child)}.jsonl")
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
    parts.append(f"agentId: {id_of(end.child)}. SendMessage to that id goes on with it.")
    return "\n".join(parts)


def _name(said: str) -> str:
    """As a call may give it; whatever else a file says is none."""
    return said if NAME.fullmatch(said) else ""


def _member(
    started: AgentStarted, owner: str, end: AgentFinished | None, *, orphaned: bool = False
) -> Member:
    return Member(
        id=id_of(started.child),
        path=started.child,
        owner=owner,
        kind=in_line(started.kind),
        name=_name(started.name),
        description=started.description,
        model=started.model,
        status=end.status if end is not None else "interrupted",
        background=end.background if end is not None else started.background,
        by_person=end is not None and end.stopped_by == PERSON,
        orphaned=orphaned,
        worktree=end.worktree if end is not None else "",
        mode=started.mode,
        isolation=started.isolation,
    )
