"""The task list of a session on disk: ids are never reused and every change is under a lock.

Several agents, also in other processes, may share one list.
"""

from __future__ import annotations

import contextlib
import fcntl
import time
from collections.abc import Generator
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from gatewright.tools.blocks import Todo, TodoItem
from gatewright.tools.protocol import ToolContext, ToolFailure
from gatewright.tools.system import private

Status: TypeAlias = Literal["pending", "in_progress", "completed"]
_LOCK_SECONDS = 2.0


class Task(msgspec.Struct, kw_only=True, omit_defaults=True):
    id: str
    subject: str
    description: str = ""
    status: Status = "pending"
    activeForm: str = ""
    owner: str = ""
    blockedBy: list[str] = []


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
        if task.id in self._needs(first, set()):
            raise ToolFailure(f"Task {task.id} and task {first.id} would wait for each other.")
        if first.id not in task.blockedBy:
            task.blockedBy.append(first.id)

    def _needs(self, task: Task, seen: set[str]) -> set[str]:
        seen.add(task.id)
        for id in task.blockedBy:
            if id not in seen and id in self.tasks:
                self._needs(self.tasks[id], seen)
        return seen

    def waits_for(self, task: Task) -> list[str]:
        """The tasks it is blocked by that are not completed."""
        return [
            id for id in task.blockedBy if id in self.tasks and self.tasks[id].status != "completed"
        ]

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


@contextlib.contextmanager
def opened(ctx: ToolContext) -> Generator[TaskList, None, None]:
    """The session's list under its lock; written back if the block ends without an exception."""
    folder = ctx.state or ctx.spill
    path = folder / "tasks.json"
    try:
        private.folder(folder)
        with open(folder / "tasks.lock", "ab", opener=private.opener) as lock:
            _lock(lock.fileno())
            state = _read(path)
            before = msgspec.json.encode(state)
            yield TaskList(state)
            after = msgspec.json.encode(state)
            if after != before:
                temporary = path.with_suffix(".new")
                private.write(temporary, after)
                temporary.replace(path)
    except OSError as error:
        raise ToolFailure(f"The task list cannot be used: {error.strerror}.") from None


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
        return msgspec.json.decode(path.read_bytes(), type=_List)
    except FileNotFoundError:
        return _List()
    except msgspec.DecodeError as error:
        raise ToolFailure(f"{path} is damaged ({error}); move it away to start anew.") from None
