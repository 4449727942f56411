"""What the files of sessions say of the agents that ran in them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from gatewright.agent.agents.recovered import interrupted
from gatewright.agent.agents.stop_marks import mark_of
from gatewright.agent.errors import SessionError
from gatewright.agent.frontends.sentences import Spoken
from gatewright.agent.record.events import AgentFinished, AgentStarted, Envelope, UserMessage
from gatewright.agent.subcommands.place import here
from gatewright.agent.text.redact import Redactor
from gatewright.agent.transcript.index import find_session, list_sessions
from gatewright.agent.transcript.place import project_folder
from gatewright.agent.transcript.reader import branch_of, read_transcript
from gatewright.tools.protocol import TextContent
from gatewright.tools.system import private
from gatewright.tools.system.locks import busy

AGENTS = "agents"


class RunRow(msgspec.Struct, kw_only=True):
    """One agent; without a written end it is `running`, or interrupted with its session."""

    id: str
    path: str
    kind: str
    name: str
    description: str
    status: str
    tools: int
    cost: float
    report: str
    file: str


def runs_of(session: str) -> Sequence[RunRow]:
    """Of a session, deeper ones too. Raises SessionError."""
    main = _session(session)
    folder = main.with_suffix("") / AGENTS
    files = sorted(folder.glob("*.jsonl")) if folder.is_dir() else []
    found: dict[str, RunRow] = {}
    begun: dict[str, AgentStarted] = {}  # without an end
    for path in (main, *files):
        for envelope in _read(path):
            _take(envelope, found, folder)
            match envelope.event:
                case AgentStarted(child=child) as started:
                    begun[child] = started
                case AgentFinished(child=child):
                    begun.pop(child, None)
                case _:
                    pass
    alive = bool(begun) and busy(main)
    for child, started in begun.items():
        _ended(found[child], interrupted(started, folder))
        found[child].status = "running" if alive else "interrupted"
    return list(found.values())


def transcript_of(id: str, env: Mapping[str, str]) -> Iterator[str]:
    """In words, without the secrets that are known. Raises SessionError."""
    path = _file_of(id)
    redactor = Redactor(env, here().secrets)
    spoken = Spoken()
    for envelope in branch_of(path):
        yield redactor.text(_asked(envelope) or spoken.text(envelope))


def ask_to_stop(id: str) -> Path | None:
    """Leave word for the session that runs it; None where nobody does. Raises SessionError."""
    path = _file_of(id)
    session = path.parents[1]
    if not busy(session.with_name(f"{session.name}.jsonl")):
        return None
    branch = read_transcript(path).branch
    if branch and isinstance(branch[-1].event, AgentFinished):  # one that goes on has more
        return None
    mark = mark_of(path.parent, path.stem)
    try:
        private.write(mark, f"{time.time()}\n".encode())
    except OSError as error:
        raise SessionError(f"{mark} cannot be written: {error.strerror}.") from error
    return path


def _take(envelope: Envelope, found: dict[str, RunRow], folder: Path) -> None:
    event = envelope.event
    if isinstance(event, AgentStarted):
        id = event.child.rpartition("/")[2]
        found[event.child] = RunRow(
            id=id,
            path=event.child,
            kind=event.kind,
            name=event.name,
            description=event.description or " ".join(event.prompt.split())[:80],
            status="running",
            tools=0,
            cost=0.0,
            report="",
            file=str(folder / f"{id}.jsonl"),
        )
    elif isinstance(event, AgentFinished) and (row := found.get(event.child)) is not None:
        _ended(row, event)


def _ended(row: RunRow, end: AgentFinished) -> None:
    row.status = end.status
    row.tools, row.cost, row.report = end.tools, end.cost, end.report


def _asked(envelope: Envelope) -> str:
    event = envelope.event
    if not isinstance(event, UserMessage):
        return ""
    text = "\n".join(part.text for part in event.content if isinstance(part, TextContent))
    return "".join(f"> {line}\n" for line in text.splitlines())


def _folder() -> Path:
    return project_folder(here().places.home, Path(os.path.realpath(Path.cwd())))


def _session(named: str) -> Path:
    if named:
        return find_session(_folder(), named)
    listed = list_sessions(_folder())
    if not listed:
        raise SessionError("There are no sessions here yet.")
    return find_session(_folder(), listed[0].id)


def _file_of(id: str) -> Path:
    """The one file whose name begins so, in all sessions of this directory."""
    if not id.isalnum():
        raise SessionError(f"{id!r:.60} is no agent's id: agent agents runs lists them.")
    found = sorted(_folder().glob(f"*/{AGENTS}/{id}*.jsonl"))
    if not found:
        raise SessionError(f"There is no agent {id} here: agent agents runs lists them.")
    if len(found) > 1:
        raise SessionError(f"{id} begins {len(found)} agents' ids: say more of it.")
    return found[0]


def _read(path: Path) -> Sequence[Envelope]:
    """A file that cannot be read has nothing to say of others."""
    try:
        return read_transcript(path, whole=True).branch
    except SessionError:
        return ()
