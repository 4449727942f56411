"""The task list of a session or team on disk: ids are never reused, every change is under a lock.

Several agents, also in other processes, may share one list. Who works on a task holds it: nobody
else can take it while that agent lives, and it is free again once it does not.
"""

from __future__ import annotations

import contextlib
import fcntl
import re
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from gatewright.tools.access import MAIN
from gatewright.tools.blocks import Todo, TodoItem
from gatewright.tools.protocol import ToolContext, ToolFailure
from gatewright.tools.system import private
from gatewright.tools.system.lifetimes import Lifetime, ours
from gatewright.tools.system.regular import read_regular

Status: TypeAlias = Literal["pending", "in_progress", "completed"]
_LOCK_SECONDS = 10.0
LARGEST = 64 * 1024 * 1024
LIST_VARIABLES = ("CLAUDE_CODE_TASK_LIST_ID", "GATEWRIGHT_TEAM")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class Holder(msgspec.Struct, frozen=True):
    """Who works on a task: an agent of a process that lives since a certain moment."""

    life: Lifetime
    agent: str = MAIN


class Unclaimed(ToolFailure):
    """Somebody else has it, it cannot begin yet, or who asks has one: nothing was changed."""


class Task(msgspec.Struct, kw_only=True, omit_defaults=True):
    id: str
    subject: str
    description: str = ""
    status: Status = "pending"
    activeForm: str = ""
    owner: str = ""
    blockedBy: list[str] = []
    holder: Holder | None = None


class _List(msgspec.Struct):
    last: int = 0  # the highest id ever given
    tasks: dict[str, Task] = {}


class TaskList:
    """One open list: change `tasks` inside `opened`, which writes it back."""

    def __init__(self, state: _List) -> None:
        self._state = state
        self.tasks = state.tasks

    def add(self, subject: str, description: str, active_form: str) -> Task:
        self._state.last += 1
        task = Task(
            id=str(self._state.last),
            subject=subject,
            description=description,
            activeForm=active_form,
        )
        self.tasks[task.id] = task
        return task

    def find(self, id: str) -> Task:
        task = self.tasks.get(id.removeprefix("#"))
        if task is None:
            known = ", ".join(self.tasks) or "none"
            raise ToolFailure(f"There is no task {id}. There are: {known}.")
        return task

    def remove(self, task: Task) -> None:
        del self.tasks[task.id]
        for other in self.tasks.values():
            if task.id in other.blockedBy:
                other.blockedBy.remove(task.id)

    def block(self, task: Task, by: str) -> None:
        """Make `task` wait for `by`; ToolFailure where they would wait for each other."""
        first = self.find(by)
        if task.id in self._needs(first):
            raise ToolFailure(f"Task {task.id} and task {first.id} would wait for each other.")
        if first.id not in task.blockedBy:
            task.blockedBy.append(first.id)

    def _needs(self, task: Task) -> set[str]:
        seen, left = {task.id}, [task]
        while left:
            for id in left.pop().blockedBy:
                if id not in seen and id in self.tasks:
                    seen.add(id)
                    left.append(self.tasks[id])
        return seen

    def waits_for(self, task: Task) -> list[str]:
        """The tasks it is blocked by that are not completed."""
        return [
            id for id in task.blockedBy if id in self.tasks and self.tasks[id].status != "completed"
        ]

    # --- who works on what ---

    def claim(self, task: Task, who: Holder, name: str) -> None:
        """Raises Unclaimed; the text begins with already_claimed, blocked or agent_busy."""
        if task.status == "completed":
            raise Unclaimed(f"already_claimed: task {task.id} is completed.")
        if task.holder is not None and task.holder != who:
            raise Unclaimed(f"already_claimed: {task.owner or 'somebody'} works on task {task.id}.")
        if waits := self.waits_for(task):
            raise Unclaimed(f"blocked: task {task.id} waits for {', '.join(waits)}; do that first.")
        mine = (each for each in self.held_by(who) if each is not task)
        if who.agent != MAIN and (other := next(mine, None)) is not None:
            raise Unclaimed(f"agent_busy: you work on task {other.id}; complete it first.")
        known = task.owner if task.holder == who else ""
        task.status, task.holder, task.owner = "in_progress", who, known or name or task.owner

    def held_by(self, who: Holder) -> Iterator[Task]:
        """What it began and did not finish."""
        return (each for each in self.tasks.values() if each.holder == who)

    def next_free(self) -> Task | None:
        """The first that nobody has and that waits for nothing."""
        for task in self.tasks.values():
            if task.status == "pending" and not task.owner and not self.waits_for(task):
                return task
        return None

    def guard(self, task: Task, who: Holder) -> None:
        """Raises Unclaimed where it is not for them to change: who holds it may, and their lead."""
        holder = task.holder
        leads = holder is not None and who.agent == MAIN and holder.life == who.life
        if holder not in (None, who) and not leads:
            raise Unclaimed(f"already_claimed: {task.owner or 'somebody'} works on task {task.id}.")

    def finish(self, task: Task, who: Holder) -> list[str]:
        """Completed, by who holds it or where nobody does; the tasks that can begin now."""
        if task.holder is not None and task.holder != who:
            raise Unclaimed(f"already_claimed: {task.owner or 'somebody'} works on task {task.id}.")
        task.status, task.holder = "completed", None
        waiting = (each for each in self.tasks.values() if task.id in each.blockedBy)
        return [each.id for each in waiting if not self.waits_for(each)]

    def give_back(self, task: Task) -> None:
        """Nobody works on it any more."""
        task.status, task.holder, task.owner = "pending", None, ""

    def free_of_the_dead(self) -> None:
        """What agents of processes held that are gone."""
        alive: dict[Lifetime, bool] = {}
        for task in self.tasks.values():
            if task.holder is None:
                continue
            life = task.holder.life
            if life not in alive:
                alive[life] = life.lives()
            if not alive[life]:
                self.give_back(task)

    def line(self, task: Task) -> str:
        waits = self.waits_for(task)
        parts = [f"#{task.id} [{task.status}] {task.subject}"]
        parts += [f"({task.owner})"] if task.owner else []
        parts += [f"[blocked by {', '.join(f'#{id}' for id in waits)}]"] if waits else []
        return " ".join(parts)

    def block_for_people(self) -> Todo:
        return Todo(
            tuple(
                TodoItem(
                    task.activeForm or task.subject
                    if task.status == "in_progress"
                    else task.subject,
                    task.status,
                )
                for task in self.tasks.values()
            )
        )


def holder(ctx: ToolContext) -> Holder:
    """Who a call is of."""
    return Holder(ours(), ctx.agent)


def list_name(env: Mapping[str, str]) -> str:
    """What the environment calls the list; empty where it says nothing. ToolFailure as below."""
    name = next((env[each] for each in LIST_VARIABLES if env.get(each)), "")
    if name and not _NAME.fullmatch(name):
        raise ToolFailure(
            f"{name[:80]!r} is no name of a task list ({' or '.join(LIST_VARIABLES)})."
        )
    return name


def list_folder(env: Mapping[str, str], own: Path) -> Path:
    """Where the list is that the environment names, for several sessions; else the session's own.

    Raises ToolFailure for what is no name.
    """
    name = list_name(env)
    if not name:
        return own
    home = env.get("GATEWRIGHT_HOME") or f"{env.get('HOME') or '/'}/.gatewright"
    return Path(home) / "teams" / name


def opened(ctx: ToolContext) -> AbstractContextManager[TaskList]:
    """The list of the session that a call is of."""
    return opened_in(list_folder(ctx.env, ctx.state or ctx.spill))


@contextlib.contextmanager
def opened_in(folder: Path) -> Generator[TaskList, None, None]:
    """The list under its lock; written back if the block ends without an exception."""
    path = folder / "tasks.json"
    try:
        private.folder(folder)
        with open(folder / "tasks.lock", "ab", opener=private.opener) as lock:
            _lock(lock.fileno())
            state = _read(path)
            before = msgspec.json.encode(state)
            tasks = TaskList(state)
            tasks.free_of_the_dead()
            yield tasks
            after = msgspec.json.encode(state)
            if after != before:
                temporary = path.with_suffix(".new")
                private.write(temporary, after)
                temporary.replace(path)
    except OSError as error:
        raise ToolFailure(f"The task list cannot be used: {error.strerror or error}.") from None


def _lock(fd: int) -> None:
    deadline = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise ToolFailure("Another agent holds the task list. Try again.") from None
            time.sleep(0.01)
        else:
            return


def _read(path: Path) -> _List:
    try:
        return msgspec.json.decode(read_regular(path, LARGEST, follow=False), type=_List)
    except FileNotFoundError:
        return _List()
    except msgspec.DecodeError as error:
        raise ToolFailure(f"{path} is damaged ({error}); move it away to start anew.") from None
