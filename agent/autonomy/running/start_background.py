"""Starts a background session: decides where it may work, begins its process, and comes back.

What was wrong with a command line is said here; what goes wrong later stands in its record.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from gatewright.agent.autonomy.running import known_sessions
from gatewright.agent.autonomy.running.bounded_log import opened
from gatewright.agent.autonomy.running.launch import WORD, Launch, early, encoded
from gatewright.agent.autonomy.running.running_record import Record, begin, seen
from gatewright.agent.autonomy.running.socket_places import log_file, record_file, records_folder
from gatewright.agent.errors import SessionError
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.record.ids import new_id
from gatewright.agent.settings.groups.autonomy_settings import Bg
from gatewright.agent.settings.paths import own_home, user_home
from gatewright.agent.transcript.place import project_folder, transcript_file
from gatewright.tools.system import private
from gatewright.tools.system.locks import held
from gatewright.tools.system.pipes import holding
from gatewright.tools.system.project import project_of
from gatewright.tools.system.sweep import started_at

PLAN = "plan"  # the mode that edits nothing
TITLE = 80
FULL = "{count} sessions run in the background, as many as bg.max lets: agent stop ID ends one."
OPEN = "Session {id} is open already: agent ps lists what runs in the background."
THERE = "Session {id} exists. agent bg --resume {id} goes on with it."
NO_GIT = (
    "Session {id} works in {root} already, and without git there is no work tree for another one: "
    "agent bg --here begins beside it."
)
NOT_STARTED = "The session could not be started: {why}."


class Begun(msgspec.Struct, frozen=True):
    """`beside` is the session because of which this one has a work tree of its own."""

    record: Record
    beside: str = ""


class Manner(msgspec.Struct, frozen=True):
    """`here`: in this checkout, whoever else works in it. For the others see `Launch`."""

    here: bool = False
    once: bool = False
    unattended: bool = False


def ourselves() -> tuple[str, ...]:
    """This program again; nothing of the directory it starts in is imported."""
    return sys.executable, "-P", os.path.realpath(sys.argv[0])


def start(
    options: LaunchOptions,
    env: Mapping[str, str],
    limits: Bg,
    manner: Manner = Manner(),  # noqa: B008  frozen
    program: Sequence[str] | None = None,
) -> Begun:
    """Raises SessionError. The process is there when this returns, and its record."""
    home, cwd = own_home(env), Path(os.path.realpath(options.cwd or "."))
    root = project_of(cwd, user_home(env))
    if not cwd.is_dir():
        raise SessionError(NOT_STARTED.format(why=f"there is no directory {cwd}"))
    if options.cwd:
        options = replace(options, cwd=str(cwd))
    options, id = _named(options, home, cwd)
    folder = records_folder(home)
    private.folder(folder)
    with held(folder / ".starting"):  # who starts at the same moment counts us, and we them
        live = known_sessions.live(home, time.time())
        if len(live) >= limits.max:
            raise SessionError(FULL.format(count=len(live)))
        beside = "" if manner.here else _working(live, options, root)
        if beside and not (root / ".git").exists():
            raise SessionError(NO_GIT.format(id=beside, root=root))
        if beside:
            from gatewright.agent.worktrees.names import wanted  # noqa: PLC0415  lazy: 5 ms, rarely

            options = replace(options, worktree=wanted("").slug)
        launch = Launch(
            id=id,
            options=options,
            env=dict(env),
            cwd=str(cwd),
            at=os.getcwd(),  # noqa: PTH109  as it is
            root="" if options.worktree is not None else str(root),
            title=" ".join((options.name or options.prompt).split())[:TITLE],
            once=manner.once,
            unattended=manner.unattended,
        )
        return Begun(_begun(launch, home, program or ourselves()), beside)


def _named(options: LaunchOptions, home: Path, cwd: Path) -> tuple[LaunchOptions, str]:
    """The same with the id that it will have. Raises SessionError."""
    folder = project_folder(home, cwd)
    if options.resume is None and not options.continue_session:
        id = options.session_id or new_id()
        if transcript_file(folder, id).exists() or _is_live(home, id):
            raise SessionError(THERE.format(id=id))
        return replace(options, session_id=id), id
    from gatewright.agent.session.start.resume import find_start  # noqa: PLC0415  lazy: 40 ms, only to resume
    from gatewright.tools.system.locks import busy  # noqa: PLC0415  loaded by now

    if options.fork_session:
        id = options.session_id or new_id()
        return replace(options, session_id=id), id
    found = find_start(options, folder)
    if busy(found.path) or _is_live(home, found.id):
        raise SessionError(OPEN.format(id=found.id))
    named = str(found.source or found.path)
    id = found.id
    if not found.on_disk:  # a copy of a file from elsewhere
        options = replace(options, session_id=id)
    return replace(options, resume=named, continue_session=False), id


def _is_live(home: Path, id: str) -> bool:
    found = seen(record_file(home, id), time.time())
    return found is not None and found.live


def _working(live: Sequence[Record], options: LaunchOptions, root: Path) -> str:
    """Who edits in this checkout already, where this one would too; empty for nobody."""
    if options.worktree is not None or options.mode == PLAN:
        return ""
    return next((e.id for e in live if e.root == str(root) and e.mode != PLAN), "")


def _begun(launch: Launch, home: Path, program: Sequence[str]) -> Record:
    file = record_file(home, launch.id)
    file.unlink(missing_ok=True)  # of a life before this one
    log, told = opened(log_file(home, launch.id)), holding(encoded(launch))
    try:
        process = subprocess.Popen(
            (*program, WORD),
            stdin=told,
            stdout=log,
            stderr=log,
            cwd=launch.at,
            env=early(launch.env),
            start_new_session=True,
        )
    except OSError as error:
        raise SessionError(NOT_STARTED.format(why=error.strerror)) from error
    finally:
        os.close(log)
        os.close(told)
    process.returncode = 0  # nobody waits for it: it outlives us
    now = time.time()
    record = Record(
        id=launch.id,
        pid=process.pid,
        start=started_at(process.pid),
        began=now,
        changed=now,
        title=launch.title,
        cwd=launch.cwd,
        root=launch.root,
        mode=launch.options.mode,
    )
    begin(file, record)
    return record
