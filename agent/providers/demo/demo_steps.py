"""What the demo does next: a pure function of the wish and of what its calls gave so far."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import assert_never

from gatewright.agent.providers.demo.demo_tour import next_of_tour
from gatewright.agent.providers.demo.demo_words import (
    Create,
    Find,
    Plan,
    ReadFile,
    Replace,
    Run,
    Todo,
    Tour,
    Wish,
)
from gatewright.agent.providers.demo.demo_work import Done, Reply, Step, counted, plain_lines, shown
from gatewright.tools.protocol import JsonObject

_SHOWN = 12
_GLOB = re.compile(r"[*?\[{]")
_TASKS = (
    ("List the files here", "Listing the files"),
    ("Count them", "Counting"),
    ("Say what was found", "Summing up"),
)
_PLAN = """## {goal}

1. Look at the files it concerns, and at their tests.
2. Make the smallest change that does it.
3. Run the tests and read the diff once more."""


def next_step(wish: Wish, done: Sequence[Done], tools: frozenset[str]) -> Reply:
    match wish:
        case Tour():
            return next_of_tour(done)
        case Find(what=what):
            return _find(what, done)
        case ReadFile(path=path):
            return _read(path, done)
        case Run(command=command):
            return _run(command, done)
        case Replace():
            return _replace(wish, done)
        case Create(path=path, content=content):
            return _create(path, content, done)
        case Plan(goal=goal):
            return _plan(goal, done, tools)
        case Todo():
            return _todo(done)
        case _:
            assert_never(wish)


def _find(what: str, done: Sequence[Done]) -> Reply:
    names = bool(_GLOB.search(what))
    if not done:
        if names:
            pattern = what if "/" in what else f"**/{what}"
            return Reply(
                "I will look for files of that name.", (Step("Glob", {"pattern": pattern}),)
            )
        search = {"pattern": re.escape(what), "output_mode": "content", "head_limit": 50}
        return Reply(f"I will search the files for `{what}`.", (Step("Grep", search),))
    result = done[0]
    lines = plain_lines(result.text)
    if not result.ok or not lines or lines[0].lower().startswith("no "):
        return Reply(f"Nothing found for `{what}`. {lines[0] if lines else ''}".strip())
    found = counted(len(lines), "file" if names else "line")
    return Reply(f"Found {found} for `{what}`:\n\n{shown(lines, _SHOWN)}")


def _read(path: str, done: Sequence[Done]) -> Reply:
    if not done:
        return Reply(f"I will read {path}.", (Step("Read", {"file_path": path}),))
    if not done[0].ok:
        return Reply(f"That did not work: {done[0].text.strip()}")
    lines = plain_lines(done[0].text)
    size = counted(len(lines), "line")
    return Reply(f"{path} has {size}; it begins\n\n{shown(lines, _SHOWN)}")


def _run(command: str, done: Sequence[Done]) -> Reply:
    if not done:
        call = Step("Bash", {"command": command, "description": "Runs what you asked for"})
        return Reply("I will run it.", (call,))
    lines = plain_lines(done[0].text)
    how = "It ran" if done[0].ok else "It did not end well"
    if not lines:
        return Reply(f"{how} and printed nothing.")
    return Reply(f"{how}:\n\n{shown(lines[-_SHOWN:], _SHOWN)}")


def _replace(wish: Replace, done: Sequence[Done]) -> Reply:
    if not done:
        step = Step("Read", {"file_path": wish.path})
        return Reply(f"I will read {wish.path} before I change it.", (step,))
    if not done[-1].ok:
        return Reply(f"That did not work: {done[-1].text.strip()}")
    if len(done) > 1:
        return Reply(f"Done: `{wish.old}` is now `{wish.new}` in {wish.path}.")
    times = "\n".join(plain_lines(done[0].text)).count(wish.old)
    if not times:
        return Reply(f"`{wish.old}` does not stand in {wish.path}, so I changed nothing.")
    change: JsonObject = {
        "file_path": wish.path,
        "old_string": wish.old,
        "new_string": wish.new,
    }
    if times > 1:
        change["replace_all"] = True
    count = "once" if times == 1 else f"{times} times"
    return Reply(f"It stands there {count}; I will replace it.", (Step("Edit", change),))


def _create(path: str, content: str, done: Sequence[Done]) -> Reply:
    if not done:
        text = content.strip() or "Written by the demo."
        step = Step("Write", {"file_path": path, "content": f"{text}\n"})
        return Reply(f"I will write {path}.", (step,))
    return Reply(f"{path} is written." if done[0].ok else f"Not written: {done[0].text.strip()}")


def _plan(goal: str, done: Sequence[Done], tools: frozenset[str]) -> Reply:
    plan = _PLAN.format(goal=goal or "A small change")
    if not done and "ExitPlanMode" in tools:
        return Reply("Here is how I would go about it.", (Step("ExitPlanMode", {"plan": plan}),))
    if done and done[0].ok:
        return Reply("The plan is settled. From here a model would carry it out.")
    return Reply(f"{plan}\n\nIn plan mode (Shift+Tab) you would be asked to approve this.")


def _todo(done: Sequence[Done]) -> Reply:
    if not done:
        return Reply("I will keep a list while I work.", (_list(0),))
    match len(done):
        case 1:
            step = Step("Bash", {"command": "ls -1A", "description": "Lists the files here"})
            return Reply("", (step,))
        case 2:
            return Reply("", (_list(2),))
        case 3:
            return Reply("", (_list(3),))
        case _:
            names = plain_lines(done[1].text) if done[1].ok else []
            return Reply(f"All three tasks are done: there are {len(names)} entries here.")


def _list(finished: int) -> Step:
    todos = [
        {
            "content": content,
            "activeForm": active,
            "status": _status(position, finished),
        }
        for position, (content, active) in enumerate(_TASKS)
    ]
    return Step("TodoWrite", {"todos": todos})


def _status(position: int, finished: int) -> str:
    if position < finished:
        return "completed"
    return "in_progress" if position == finished else "pending"
